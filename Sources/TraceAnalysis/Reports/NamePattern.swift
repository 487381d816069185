// Which names a filter means.

/// A case-insensitive pattern: with `*` or `?` a glob for the whole name, otherwise a part of it.
public struct NamePattern: Hashable, Sendable {
  private let pattern: [Character]
  private let isGlob: Bool

  public init(_ text: String) {
    pattern = Array(text.lowercased())
    isGlob = text.contains("*") || text.contains("?")
  }

  /// The pattern is no glob, and the name itself but for case.
  public func isExactly(_ name: String) -> Bool { !isGlob && Array(name.lowercased()) == pattern }

  /// O(length of name · length of pattern) at worst.
  public func matches(_ name: String) -> Bool {
    let name = Array(name.lowercased())
    return isGlob ? matchesWhole(name) : matchesPart(name)
  }

  private func matchesPart(_ name: [Character]) -> Bool {
    if pattern.isEmpty { return true }
    if name.count < pattern.count { return false }
    return (0...name.count - pattern.count).contains { start in
      name[start] == pattern[0] && name[start..<start + pattern.count].elementsEqual(pattern)
    }
  }

  /// Walks both once, going back to the last star when they part.
  private func matchesWhole(_ name: [Character]) -> Bool {
    var position = 0
    var index = 0
    var star: (index: Int, position: Int)?
    while position < name.count {
      if index < pattern.count, pattern[index] == "*" {
        star = (index, position)
        index += 1
      } else if index < pattern.count, pattern[index] == "?" || pattern[index] == name[position] {
        index += 1
        position += 1
      } else if let last = star {
        index = last.index + 1
        position = last.position + 1
        star = (last.index, position)
      } else {
        return false
      }
    }
    return pattern[index...].allSatisfy { $0 == "*" }
  }
}
