// Programs are built once each, several at a time.

import Foundation

/// A lock for each program that tests build: whoever wants a program waits for its build, and for no other's.
enum BuildLock {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var locks: [String: NSLock] = [:]

  /// Runs `build` alone among the builds of the program that `path` names.
  static func withLock<Product>(for path: String, _ build: () throws -> Product) rethrows -> Product {
    let own = lock.withLock {
      let result = locks[path] ?? NSLock()
      locks[path] = result
      return result
    }
    return try own.withLock(build)
  }
}
