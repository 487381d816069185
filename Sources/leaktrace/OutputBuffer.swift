// Buffers standard output.

import Glibc

/// Collects text and writes it out 64 KiB at a time. If the reader has closed the pipe, as `| head` does, that is no
/// error: `isClosed` becomes true, and further text is dropped.
final class OutputBuffer {
  enum Failure: Error { case write(errno: Int32) }

  private var bytes: [UInt8] = []
  private(set) var isClosed = false

  init() {
    bytes.reserveCapacity(1 << 17)
    signal(SIGPIPE, SIG_IGN)
  }

  func write(_ text: String) throws { try write(text.utf8) }

  func write(_ more: some Sequence<UInt8>) throws {
    bytes.append(contentsOf: more)
    if bytes.count >= 1 << 16 { try flush() }
  }

  func flush() throws {
    defer { bytes.removeAll(keepingCapacity: true) }
    if isClosed { return }
    try bytes.withUnsafeBytes { all in
      var done = 0
      while done < all.count {
        let n = Self.writeOut(all.baseAddress! + done, all.count - done)
        if n > 0 {
          done += n
        } else if errno == EPIPE {
          isClosed = true
          return
        } else if errno != EINTR {
          throw Failure.write(errno: errno)
        }
      }
    }
  }

  private static func writeOut(_ start: UnsafeRawPointer, _ count: Int) -> Int {
    Glibc.write(1, start, count)
  }
}
