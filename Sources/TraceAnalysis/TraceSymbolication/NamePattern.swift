// A pattern for names, given by the user as a filter.

import TextWriting
import TraceReading

/// A case-insensitive pattern. If it has `*` or `?`, it is a glob that must match the whole name. Otherwise it matches
/// any part of the name.
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

  /// The pattern's text in lower case; nil for a glob.
  package var word: String? { isGlob ? nil : text }

  /// Returns whether the pattern is not a glob and equals the name, ignoring case.
  package func isExactly(_ name: String) -> Bool { !isGlob && name.lowercased() == text }

  /// Returns whether a name matches. O(length of name · length of pattern) at worst.
  package func matches(_ name: String) -> Bool { glob.matches(name.lowercased().utf8) }
}
