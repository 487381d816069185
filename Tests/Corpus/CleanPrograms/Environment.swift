// Files, the process's environment, notifications, user defaults.
import Foundation

enum Files: CleanProgram {
  static func correct() {
    let manager = FileManager.default
    let directory = manager.temporaryDirectory.appendingPathComponent("corpus-\(getpid())")
    defer { try? manager.removeItem(at: directory) }
    do {
      try manager.createDirectory(at: directory, withIntermediateDirectories: true)
      for number in 0..<5 {
        try Data("file \(number)".utf8).write(to: directory.appendingPathComponent("\(number).txt"))
      }
      for name in try manager.contentsOfDirectory(atPath: directory.path) {
        note(try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8).count)
      }
    } catch { note(-1) }
  }
}

enum ProcessEnvironment: CleanProgram {
  static func correct() {
    let process = ProcessInfo.processInfo
    note(process.environment.count + process.arguments.count)
    note(process.hostName.count + process.operatingSystemVersionString.count)
  }
}

enum RemovedObservers: CleanProgram {
  static func correct() {
    let center = NotificationCenter.default
    let tokens = (0..<6).map { number in
      center.addObserver(forName: Notification.Name("saved"), object: nil, queue: nil) { _ in note(number) }
    }
    center.post(name: Notification.Name("saved"), object: nil)
    for token in tokens { center.removeObserver(token) }
  }
}

final class Screen {
  private var observers: [any NSObjectProtocol] = []

  /// The default centre holds the block, and the block the screen: it lives on, reachable, as long as it is registered.
  func observe() {
    observers.append(
      NotificationCenter.default.addObserver(forName: Notification.Name("saved"), object: nil, queue: nil) { _ in self.refresh() })
  }

  func refresh() { note(observers.count) }
}

enum RegisteredObservers: CleanProgram {
  static func correct() {
    for _ in 0..<2 { Screen().observe() }
    NotificationCenter.default.post(name: Notification.Name("saved"), object: nil)
  }
}

/// A source that fires while the program ends: libdispatch knows it, and it knows its handler.
enum RunningTimers: CleanProgram {
  static func correct() {
    for _ in 0..<2 { Heartbeat().start() }
    settle()
  }
}

final class Heartbeat: @unchecked Sendable {
  private let source = DispatchSource.makeTimerSource(queue: .global())
  private var beats = 0

  func start() {
    source.schedule(deadline: .now() + 3600, repeating: 3600)
    source.setEventHandler { self.beats += 1 }
    source.activate()
  }
}
