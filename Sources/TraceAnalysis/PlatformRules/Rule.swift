// One fact about a platform or a library.

/// A name that a rule is looked up by.
package enum RuleSubject: String, CaseIterable, Hashable, Sendable {
  /// A linker's name.
  case symbol
  /// A function's demangled name: short, where its kind does not say otherwise.
  case function
  /// A type's name with its module.
  case type
  /// A Swift module.
  case module
  /// A file's name without its folder.
  case image
  case variable
  /// A stored property.
  case field
}

/// A fact that holds for all names that its patterns match.
package struct Rule: Hashable, Sendable {
  package struct Place: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// From 1.
    package var line: Int

    package var description: String { "\(file):\(line)" }
  }

  package var kind: RuleKind
  package var patterns: [RulePattern]
  /// Its words for a report, or a word that its kind knows; nil if its kind has none.
  package var statement: String?
  /// The reason why it holds, for people who change the rule.
  package var reason: String
  /// The versions that the fact was observed in.
  package var seen: String
  package var place: Place
}

/// A name, or with a `*` at one end or both a part of one.
package struct RulePattern: Hashable, Sendable {
  package enum Part: Hashable, Sendable { case all, beginning, end, any }

  package var subject: RuleSubject
  package var part: Part
  package var text: String

  /// Nil if nothing is left but stars, or if there is one in the middle.
  init?(_ subject: RuleSubject, _ written: Substring) {
    let star = UInt8(ascii: "*")
    var text = written.utf8
    let isOpenAtEnd = text.count > 1 && text.last == star
    if isOpenAtEnd { text = text.dropLast() }
    let isOpenAtStart = text.first == star
    if isOpenAtStart { text = text.dropFirst() }
    guard !text.isEmpty, !text.contains(star) else { return nil }
    self.subject = subject
    self.text = String(Substring(text))
    part =
      switch (isOpenAtStart, isOpenAtEnd) {
      case (false, false): .all
      case (false, true): .beginning
      case (true, false): .end
      case (true, true): .any
      }
  }
}
