// A rule: one fact about a platform or a library.

/// The kind of name that a rule is looked up by.
package enum RuleSubject: String, CaseIterable, Hashable, Sendable {
  /// A linker symbol, which may be mangled.
  case symbol
  /// A function's demangled name; the short form unless the rule's kind says otherwise.
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
    /// The line's number, from 1.
    package var line: Int

    package var description: String { "\(file):\(line)" }
  }

  package var kind: RuleKind
  package var patterns: [RulePattern]
  /// Words for a report, or one of the words that the rule's kind defines; nil if the kind has no statement.
  package var statement: String?
  /// The reason for the rule, for people who change it.
  package var reason: String
  /// The versions that the fact was observed in.
  package var seen: String
  package var place: Place
}

/// A name, or a part of a name with a `*` at one end or both ends.
package struct RulePattern: Hashable, Sendable {
  package enum Part: Hashable, Sendable { case all, beginning, end, any }

  package var subject: RuleSubject
  package var part: Part
  package var text: String

  /// Returns nil if there is nothing but stars, or a star in the middle.
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
