// Runs one program of the corpus, named by the first argument, with its fault ("leak") or without ("clean").
// It returns from here like any program, so that what is left is seen at exit.
import Glibc

var programs: [String: any CleanProgram.Type] = [
  "album-subtree": AlbumSubtree.self,
  "backup-clock": BackupClock.self,
  "base-class-field": BaseClassField.self,
  "book-chapters": BookChapters.self,
  "brush-box": BrushBox.self,
  "callback-contexts": CallbackContexts.self,
  "cart-observation": CartObservation.self,
  "action-structure": ActionStructure.self,
  "gallery": Gallery.self,
  "dangling-delegate": DanglingDelegate.self,
  "dangling-surface": DanglingSurface.self,
  "debounced-work": DebouncedWork.self,
  "download-state": DownloadState.self,
  "editor-plugins": EditorPlugins.self,
  "bus-handlers": BusHandlers.self,
  "folder-tree": FolderTree.self,
  "formula-tree": FormulaTree.self,
  "generic-relay": GenericRelay.self,
  "handler-chain": HandlerChain.self,
  "image-effects": ImageEffects.self,
  "operation-completion": OperationCompletion.self,
  "lazy-closure": LazyClosure.self,
  "listener-set": ListenerSet.self,
  "locked-registry": LockedRegistry.self,
  "login-result": LoginResult.self,
  "lost-checked-continuation": LostCheckedContinuation.self,
  "lost-unsafe-continuation": LostUnsafeContinuation.self,
  "objective-subclasses": ObjectiveSubclasses.self,
  "menu-tree": MenuTree.self,
  "meter-assign": MeterAssign.self,
  "method-reference": MethodReference.self,
  "wrapper-storage": WrapperStorage.self,
  "nested-capture": NestedCapture.self,
  "onboarding-triangle": OnboardingTriangle.self,
  "over-retained": OverRetained.self,
  "own-stream-task": OwnStreamTask.self,
  "panel-links": PanelLinks.self,
  "pass-retained": PassRetained.self,
  "pet-owner-pair": PetOwnerPair.self,
  "playback-states": PlaybackStates.self,
  "playlist": Playlist.self,
  "presence-timer": PresenceTimer.self,
  "profile-screen": ProfileScreen.self,
  "raw-pixels": RawPixels.self,
  "recursive-closure": RecursiveClosure.self,
  "retry-box": RetryBox.self,
  "route-dictionary": RouteDictionary.self,
  "settings-screen": SettingsScreen.self,
  "side-tables": SideTables.self,
  "managed-slots": ManagedSlots.self,
  "station-keys": StationKeys.self,
  "stored-closure": StoredClosure.self,
  "stream-termination": StreamTermination.self,
  "strong-delegate": StrongDelegate.self,
  "sync-actor": SyncActor.self,
  "async-job": AsyncJob.self,
  "team-array": TeamArray.self,
  "theme-observer": ThemeObserver.self,
  "timeline-sink": TimelineSink.self,
  "token-mutex": TokenMutex.self,
  "toolbar-handlers": ToolbarHandlers.self,
  "tuple-capture": TupleCapture.self,
  "two-sites": TwoSites.self,
  "unowned-zombies": UnownedZombies.self,
  "used-callbacks": UsedCallbacks.self,
  "watcher-source": WatcherSource.self,

  "json-coding": JSONCoding.self,
  "xml-reading": XMLReading.self,
  "dispatch-groups": DispatchGroups.self,
  "operation-queues": OperationQueues.self,
  "threads": Threads.self,
  "task-groups": TaskGroups.self,
  "actors": Actors.self,
  "finished-streams": FinishedStreams.self,
  "stored-tasks": StoredTasks.self,
  "files": Files.self,
  "process-environment": ProcessEnvironment.self,
  "removed-observers": RemovedObservers.self,
  "registered-observers": RegisteredObservers.self,
  "running-timers": RunningTimers.self,
  "singletons": Singletons.self,
  "live-cycles": LiveCycles.self,
  "weak-caches": WeakCaches.self,
  "live-side-tables": LiveSideTables.self,
  "object-caches": ObjectCaches.self,
  "large-collections": LargeCollections.self,
  "expressions": Expressions.self,
  "dates": Dates.self,
  "strings": Strings.self,
]
#if !STATIC_STDLIB
  programs["archive-download"] = ArchiveDownload.self
#endif

let arguments = CommandLine.arguments
let program = arguments.count == 3 ? programs[arguments[1]] : nil

switch (program, arguments.last) {
case (let program as any FaultyProgram.Type, "leak"): program.faulty()
case (.some(let program), "clean"): program.correct()
default:
  fputs("usage: corpus NAME leak|clean\n", stderr)
  for name in programs.keys.sorted() { fputs("  \(name)\n", stderr) }
  exit(64)
}
