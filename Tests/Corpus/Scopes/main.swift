// Runs one program of this part of the corpus, named by the first argument, with its fault ("leak") or without ("clean").
// Programs return from here, or call exit from a task as an async main function does. Nothing is tidied up before that.
import Foundation

let programs: [String: any CleanProgram.Type] = [
  "connection-registry": ConnectionRegistry.self,
  "dispatch-queue-work": DispatchQueueWork.self,
  "dispatch-timer": DispatchTimer.self,
  "growing-cache": GrowingCache.self,
  "growing-log": GrowingLog.self,
  "notification-observer": NotificationObserver.self,
  "pushed-twice": PushedTwice.self,
  "repeating-timer": RepeatingTimer.self,
  "thread-handoff": ThreadHandoff.self,
  "timer-target-controller": TimerTargetController.self,

  "bounded-queue": BoundedQueue.self,
  "chat-room": ChatRoom.self,
  "config-reload": ConfigReload.self,
  "game-loop": GameLoop.self,
  "heartbeat-timer": HeartbeatTimer.self,
  "last-and-best": LastAndBest.self,
  "memoisation": Memoisation.self,
  "object-pool": ObjectPool.self,
  "open-document": OpenDocument.self,
  "record-batch": RecordBatch.self,
  "services": Services.self,
  "start-observer": StartObserver.self,
  "symbol-interning": SymbolInterning.self,
  "syntax-tree": SyntaxTree.self,
  "thread-caches": ThreadCaches.self,
  "undo-stack": UndoStack.self,
  "warm-up-cache": WarmUpCache.self,
]

typealias AsyncWork = @Sendable () async -> Void

/// Programs whose main function is async.
let asyncPrograms: [String: (leak: AsyncWork?, clean: AsyncWork)] = [
  "async-stream-subscribers": (AsyncStreamSubscribers.faulty, AsyncStreamSubscribers.correct),
  "endless-task": (EndlessTask.faulty, EndlessTask.correct),
  "pending-sleep": (PendingSleep.faulty, PendingSleep.correct),
  "retry-queue": (RetryQueueProgram.faulty, RetryQueueProgram.correct),
  "task-group": (TaskGroupMetrics.faulty, TaskGroupMetrics.correct),

  "server-loop": (nil, ServerLoop.correct),
]

let arguments = CommandLine.arguments
let name = arguments.count == 3 ? arguments[1] : ""

/// As the main function of an async program ends: with a call of exit.
func runAsync(_ work: @escaping AsyncWork) -> Never {
  Task { @MainActor in
    await work()
    exit(EXIT_SUCCESS)
  }
  dispatchMain()
}

switch (programs[name], asyncPrograms[name], arguments.last) {
case (let program as any FaultyProgram.Type, _, "leak"): program.faulty()
case (.some(let program), _, "clean"): program.correct()
case (_, (let work?, _)?, "leak"): runAsync(work)
case (_, (_, let work)?, "clean"): runAsync(work)
default:
  fputs("usage: scopes NAME leak|clean\n", stderr)
  for name in (Array(programs.keys) + asyncPrograms.keys).sorted() { fputs("  \(name)\n", stderr) }
  exit(64)
}
