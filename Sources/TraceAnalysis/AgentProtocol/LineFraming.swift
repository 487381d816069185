// Splits a stream of bytes into lines of limited length.

/// Collects bytes until a line is complete. The rest of a line that is too long is dropped, so memory is bounded by the
/// limit. For one thread at a time.
package struct LineFraming {
  package enum Line: Hashable, Sendable {
    case bytes([UInt8])
    /// A line that was longer than the limit.
    case tooLong
  }

  /// Maximum number of bytes of a line, without its end.
  package let limit: Int
  private var rest: [UInt8] = []
  private var isTooLong = false

  package init(limit: Int) { self.limit = limit }

  /// Adds bytes, and returns the lines that are now complete. Leaves out empty lines. Linear.
  package mutating func add(_ bytes: some Collection<UInt8>) -> [Line] {
    var lines: [Line] = []
    var part = bytes[...]
    while let end = part.firstIndex(of: UInt8(ascii: "\n")) {
      append(part[..<end])
      lines += finish()
      part = part[part.index(after: end)...]
    }
    append(part)
    return lines
  }

  /// Returns the last line, which has no end.
  package mutating func finish() -> [Line] {
    defer { (rest, isTooLong) = ([], false) }
    if isTooLong { return [.tooLong] }
    if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
    return rest.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } ? [] : [.bytes(rest)]
  }

  private mutating func append(_ bytes: some Collection<UInt8>) {
    guard !isTooLong else { return }
    if rest.count + bytes.count > limit {
      (rest, isTooLong) = ([], true)
    } else {
      rest += bytes
    }
  }
}
