// Matching names against patterns with stars.

/// A pattern for a whole text in UTF-8. Compares bytes. The caller handles case and anchors.
package struct Glob: Hashable, Sendable {
  package enum Token: Hashable, Sendable {
    case byte(UInt8)
    /// Any Unicode scalar.
    case anyScalar
    /// Any text, even empty text.
    case anyText
  }

  private let tokens: [Token]

  package init(_ tokens: [Token]) { self.tokens = tokens }

  /// Returns whether the whole text matches. At a mismatch, goes back to the last star. At worst O(length of text ·
  /// length of pattern).
  package func matches(_ text: some Collection<UInt8>) -> Bool {
    text.withContiguousStorageIfAvailable(matches) ?? Array(text).withUnsafeBufferPointer(matches)
  }

  private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    var index = 0
    var star: (index: Int, position: Int)?
    while position < text.count {
      let token = index < tokens.count ? tokens[index] : nil
      if token == .anyText {
        star = (index, position)
        index += 1
      } else if token == .byte(text[position]) {
        index += 1
        position += 1
      } else if token == .anyScalar {
        index += 1
        position = Self.endOfScalar(at: position, in: text)
      } else if let last = star {
        index = last.index + 1
        position = last.position + 1
        star = (last.index, position)
      } else {
        return false
      }
    }
    return tokens[index...].allSatisfy { $0 == .anyText }
  }

  private static func endOfScalar(at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
    var end = position + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
