// Reads rules from text.

/// The reason why a file of rules cannot be used.
package struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Problem: Hashable, Sendable {
    case unknownKind(String)
    case unknownKey(String)
    /// Rules of the kind are not looked up by this subject.
    case wrongSubject(RuleSubject)
    case wrongPattern(String)
    case noPattern
    case missing(String)
    case repeated(String)
    /// Rules of this kind have no statement, or must have another one.
    case wrongStatement(String)
    /// Another rule of the kind has the same pattern.
    case duplicate(of: Rule.Place)
    case outsideOfRule
  }

  package var problem: Problem
  package var place: Rule.Place

  package var description: String {
    let text =
      switch problem {
      case .unknownKind(let name): "there is no kind of rule '\(name)'"
      case .unknownKey(let name): "a rule has no '\(name)'"
      case .wrongSubject(let subject): "rules of this kind are not looked up by '\(subject.rawValue)'"
      case .wrongPattern(let text): "'\(text)' is no pattern: a name, with a * at its ends or without"
      case .noPattern: "the rule has no pattern"
      case .missing(let key): "the rule has no '\(key)'"
      case .repeated(let key): "the rule has a second '\(key)'"
      case .wrongStatement(let text): "rules of this kind do not say '\(text)'"
      case .duplicate(let place): "the pattern is also in \(place)"
      case .outsideOfRule: "the line is indented, and belongs to no rule"
      }
    return "\(place): \(text)"
  }
}

/// Reads a file of rules. A rule is a line with its kind, followed by indented lines, each with a key and a value:
///
///     registration
///       type    Foundation.Timer*, Foundation.OtherTimer*
///       says    timer
///       reason  A run loop holds its timers.
///       seen    Swift 6.1.2, 6.3.1
///
/// The value of a subject is a list of patterns, separated by commas. The key of a subject may be repeated. Empty lines
/// and lines that begin with `#` are ignored.
struct RuleParser {
  private struct Draft {
    var kind: RuleKind
    var place: Rule.Place
    var patterns: [RulePattern] = []
    var texts: [String: String] = [:]
  }

  private let file: String
  private var draft: Draft?
  private var rules: [Rule] = []

  private static let statement = "says"
  private static let reason = "reason"
  private static let seen = "seen"

  private init(_ file: String) { self.file = file }

  /// Returns the rules in a file's text. Linear in the text.
  static func rules(in text: String, ofFile file: String) throws(RuleError) -> [Rule] {
    var parser = RuleParser(file)
    var number = 0
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      try parser.take(line, at: Rule.Place(file: file, line: number))
    }
    try parser.finish()
    return parser.rules
  }

  // Parse bytes: comparing characters takes a hundred times as long, and leaktrace parses all files at each start.
  private typealias Bytes = Substring.UTF8View

  private mutating func take(_ line: Bytes, at place: Rule.Place) throws(RuleError) {
    let content = Self.trimmed(line)
    if content.isEmpty || content.first == UInt8(ascii: "#") { return }
    guard line.first == Self.space else {
      try finish()
      let name = String(Substring(content))
      guard let kind = RuleKind(rawValue: name) else { throw RuleError(problem: .unknownKind(name), place: place) }
      draft = Draft(kind: kind, place: place)
      return
    }
    guard draft != nil else { throw RuleError(problem: .outsideOfRule, place: place) }
    let keyBytes = content.prefix { $0 != Self.space }
    let key = String(Substring(keyBytes))
    let value = Self.trimmed(content[keyBytes.endIndex...])
    if let subject = RuleSubject(rawValue: key) {
      try add(value, subject, at: place)
    } else {
      try set(key, value, at: place)
    }
  }

  private mutating func add(_ value: Bytes, _ subject: RuleSubject, at place: Rule.Place) throws(RuleError) {
    guard draft!.kind.subjects.contains(subject) else { throw RuleError(problem: .wrongSubject(subject), place: place) }
    for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let written = Substring(Self.trimmed(part))
      guard let pattern = RulePattern(subject, written) else {
        throw RuleError(problem: .wrongPattern(String(written)), place: place)
      }
      draft!.patterns.append(pattern)
    }
  }

  private mutating func set(_ key: String, _ value: Bytes, at place: Rule.Place) throws(RuleError) {
    guard [Self.statement, Self.reason, Self.seen].contains(key) else {
      throw RuleError(problem: .unknownKey(key), place: place)
    }
    guard draft!.texts[key] == nil else { throw RuleError(problem: .repeated(key), place: place) }
    draft!.texts[key] = value.isEmpty ? nil : String(Substring(value))
  }

  /// Completes the present rule, if there is one.
  private mutating func finish() throws(RuleError) {
    guard let draft else { return }
    self.draft = nil
    guard !draft.patterns.isEmpty else { throw RuleError(problem: .noPattern, place: draft.place) }
    let statement = draft.texts[Self.statement]
    switch (draft.kind.statement, statement) {
    case (.none, nil), (.text, .some): break
    case (.one(let words), .some(let word)) where words.contains(word): break
    case (_, nil): throw RuleError(problem: .missing(Self.statement), place: draft.place)
    case (_, .some(let word)): throw RuleError(problem: .wrongStatement(word), place: draft.place)
    }
    rules.append(
      Rule(
        kind: draft.kind, patterns: draft.patterns, statement: statement, reason: try text(Self.reason, of: draft),
        seen: try text(Self.seen, of: draft), place: draft.place))
  }

  private func text(_ key: String, of draft: Draft) throws(RuleError) -> String {
    guard let text = draft.texts[key] else { throw RuleError(problem: .missing(key), place: draft.place) }
    return text
  }

  private static let space = UInt8(ascii: " ")

  private static func trimmed(_ text: Bytes) -> Bytes {
    var text = text.drop { $0 == space }
    while text.last == space { text.removeLast() }
    return text
  }
}
