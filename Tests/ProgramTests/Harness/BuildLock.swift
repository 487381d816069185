// Each program is built once. Different programs are built in parallel.

import Foundation

/// A lock for each program that tests build. It excludes all threads of all test processes.
enum BuildLock {
  private static let directory = BuildProducts.packageRoot + "/.build/e2e-programs/locks"

  /// Runs `build` while no other thread or process builds the program at `path`. Blocks until then.
  static func withLock<Product>(for path: String, _ build: () throws -> Product) throws -> Product {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var name = FingerprintOfBytes()
    name.add(Array(path.utf8))
    let descriptor = open("\(directory)/\(name.text)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CommandFailure("\(directory): \(String(cString: strerror(errno)))") }
    // The kernel also releases the lock when the process ends.
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CommandFailure("flock: \(String(cString: strerror(errno)))") }
    }
    return try build()
  }
}
