// Runs one program of this part of the corpus, named by the first argument, with its fault ("leak") or without ("clean").
// Programs return from here, or call exit from a task as an async main function does. Nothing is tidied up before that.
import Foundation

let programs: [String: any CleanProgram.Type] = [
  "backlog": Backlog.self,
  "closing-report": ClosingReport.self,
  "connection-registry": ConnectionRegistry.self,
  "dispatch-queue-work": DispatchQueueWork.self,
  "dispatch-timer": DispatchTimer.self,
  "dropped-meters": DroppedMeters.self,
  "padded-keys": PaddedKeys.self,
  "pipe-readers": PipeReaders.self,
  "drifting-tiles": DriftingTiles.self,
  "early-imports": EarlyImports.self,
  "evening-depot": EveningDepot.self,
  "evicted-pages": EvictedPages.self,
  "expiring-sessions": ExpiringSessions.self,
  "failed-uploads": FailedUploads.self,
  "growing-cache": GrowingCache.self,
  "growing-log": GrowingLog.self,
  "lent-links": LentLinks.self,
  "kitchen-shift": KitchenShift.self,
  "lamp-market": LampMarketOffers.self,
  "linked-handles": LinkedHandles.self,
  "notification-observer": NotificationObserver.self,
  "offers-by-lot": OffersByLot.self,
  "polling-sources": PollingSources.self,
  "price-tickers": PriceTickers.self,
  "pushed-twice": PushedTwice.self,
  "refused-buoys": RefusedBuoys.self,
  "repeating-timer": RepeatingTimer.self,
  "revision-chain": RevisionChain.self,
  "skipped-orders": SkippedOrders.self,
  "sockets-beside-requests": SocketsBesideRequests.self,
  "station-mailboxes": StationMailboxes.self,
  "thread-handoff": ThreadHandoff.self,
  "timer-target-controller": TimerTargetController.self,
  "waiting-threads": WaitingThreads.self,

  "bookmarked-outlines": BookmarkedOutlines.self,
  "bounded-queue": BoundedQueue.self,
  "cancelled-timeouts": CancelledTimeouts.self,
  "chat-room": ChatRoom.self,
  "config-reload": ConfigReload.self,
  "game-loop": GameLoop.self,
  "graded-papers": GradedPapers.self,
  "heartbeat-timer": HeartbeatTimer.self,
  "idle-reapers": IdleReapers.self,
  "last-and-best": LastAndBest.self,
  "ledger-books": LedgerBooks.self,
  "library-readers": LibraryReaders.self,
  "lodge-letters": LodgeLetters.self,
  "memoisation": Memoisation.self,
  "object-pool": ObjectPool.self,
  "open-document": OpenDocument.self,
  "pond-cells": PondCells.self,
  "record-batch": RecordBatch.self,
  "restocked-shelves": RestockedShelves.self,
  "services": Services.self,
  "start-observer": StartObserver.self,
  "symbol-interning": SymbolInterning.self,
  "syntax-tree": SyntaxTree.self,
  "thread-caches": ThreadCaches.self,
  "undo-stack": UndoStack.self,
  "warm-up-cache": WarmUpCache.self,
]

let asyncPrograms: [String: any AsyncCleanProgram.Type] = [
  "async-stream-subscribers": AsyncStreamSubscribers.self,
  "cancelled-waits": CancelledWaits.self,
  "endless-task": EndlessTask.self,
  "gate-boards": GateBoards.self,
  "late-farewells": LateFarewells.self,
  "news-rooms": NewsRooms.self,
  "room-visitors": RoomVisitors.self,
  "pending-sleep": PendingSleep.self,
  "retry-queue": RetryQueueProgram.self,
  "slow-answers": SlowAnswers.self,
  "task-group": TaskGroupMetrics.self,
  "unread-results": UnreadResults.self,

  "gathered-routes": GatheredRoutes.self,
  "server-loop": ServerLoop.self,
]

let arguments = CommandLine.arguments
let name = arguments.count == 3 ? arguments[1] : ""

/// As an async main function does: the main thread's queue is served, and the end of the work is the end of the process.
func runAsync(_ program: any AsyncCleanProgram.Type, leaking: Bool) -> Never {
  nonisolated(unsafe) let program = program
  Task { @MainActor in
    if leaking, let faulty = program as? any AsyncFaultyProgram.Type { await faulty.faulty() } else { await program.correct() }
    exit(EXIT_SUCCESS)
  }
  dispatchMain()
}

switch (programs[name], asyncPrograms[name], arguments.last) {
case (let program as any FaultyProgram.Type, _, "leak"): program.faulty()
case (.some(let program), _, "clean"): program.correct()
case (_, let program as any AsyncFaultyProgram.Type, "leak"): runAsync(program, leaking: true)
case (_, .some(let program), "clean"): runAsync(program, leaking: false)
default:
  fputs("usage: scopes NAME leak|clean\n", stderr)
  for name in (Array(programs.keys) + asyncPrograms.keys).sorted() { fputs("  \(name)\n", stderr) }
  exit(64)
}
