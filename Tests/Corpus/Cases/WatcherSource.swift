// A dispatch source, never activated, whose event handler captures its owner.
import Dispatch

final class FolderWatcher {
  private let source: any DispatchSourceUserDataAdd
  private var changes = 0

  init() {
    source = DispatchSource.makeUserDataAddSource(queue: .global())
  }

  func watch() {
    source.setEventHandler { self.changes += 1 }
  }

  func stop() {
    source.setEventHandler(handler: nil)
    source.activate()
    source.cancel()
  }
}

enum WatcherSource: FaultyProgram {
  static func faulty() { for _ in 0..<3 { watch() } }

  static func correct() {
    for _ in 0..<3 { watchAndStop() }
    settle()
  }

  @inline(never) private static func watch() { FolderWatcher().watch() }

  @inline(never) private static func watchAndStop() {
    let watcher = FolderWatcher()
    watcher.watch()
    watcher.stop()
  }
}
