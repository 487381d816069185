// The names that a filter means.

import TraceReading

/// A case-insensitive pattern: with `*` or `?` a glob for the whole name, otherwise a part of it.
package struct NamePattern: Hashable, Sendable {
  private let text: String
  private let isGlob: Bool
  private let glob: Glob

  package init(_ text: String) {
    self.text = text.lowercased()
    isGlob = text.contains("*") || text.contains("?")
    guard isGlob else {
      glob = Glob([.anyText] + self.text.utf8.map { .byte($0) } + [.anyText])
      return
    }
    glob = Glob(
      self.text.utf8.map {
        switch $0 {
        case UInt8(ascii: "*"): .anyText
        case UInt8(ascii: "?"): .anyScalar
        default: .byte($0)
        }
      })
  }

  /// The name in lower case, or a part of one; nil for a glob.
  package var word: String? { isGlob ? nil : text }

  /// The pattern is no glob, and equals the name except for case.
  package func isExactly(_ name: String) -> Bool { !isGlob && name.lowercased() == text }

  /// O(length of name · length of pattern) at worst.
  package func matches(_ name: String) -> Bool { glob.matches(name.lowercased().utf8) }
}
