// What the server keeps of each connection.
import Foundation
import NIOCore

/// A connection's own data.
final class SessionState: @unchecked Sendable {
  let number: Int
  private var paths: [String] = []

  init(number: Int) { self.number = number }
  func visited(_ path: String) -> Int {
    paths.append(path)
    return paths.count
  }
}

/// Looks now and then whether anything happens on a connection. Used on its event loop alone.
final class IdleMonitor: @unchecked Sendable {
  private var requests = 0
  private var requestsBefore = 0
  private var task: RepeatedTask?

  func start(on eventLoop: any EventLoop) {
    task = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(30), delay: .seconds(30)) { _ in self.check() }
  }

  func stop() {
    task?.cancel()
    task = nil
  }

  func active() { requests += 1 }
  private func check() { requestsBefore = requests }
}

final class SessionRegistry: Sendable {
  static let shared = SessionRegistry()
  private let lock = NSLock()
  nonisolated(unsafe) private var sessions: [Int: SessionState] = [:]
  nonisolated(unsafe) private var count = 0

  func open() -> SessionState {
    lock.withLock {
      let state = SessionState(number: count)
      count += 1
      sessions[state.number] = state
      return state
    }
  }

  func close(_ state: SessionState) { lock.withLock { _ = sessions.removeValue(forKey: state.number) } }
}
