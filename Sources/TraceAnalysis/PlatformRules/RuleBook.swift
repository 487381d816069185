// All rules about platforms and libraries.

/// Rules by their kind. Immutable, and so safe for any thread.
package struct RuleBook: Sendable {
  package let rules: [Rule]
  private let tables: [Key: RuleTable]

  private struct Key: Hashable {
    var kind: RuleKind
    var subject: RuleSubject
  }

  /// The rules that come with leaktrace. Tests check that their files can be read.
  package static let shipped: RuleBook = {
    do {
      return try RuleBook(RuleFiles.shipped)
    } catch {
      fatalError("the rules that come with leaktrace are damaged: \(error)")
    }
  }()

  /// Reads rules from files. No two rules of a kind may have the same pattern. Linear in the text.
  package init(_ files: [RuleFile]) throws(RuleError) {
    var rules: [Rule] = []
    for file in files { rules += try RuleParser.rules(in: file.text, ofFile: file.name) }
    var places: [RuleKind: [RulePattern: Rule.Place]] = [:]
    for rule in rules {
      for pattern in rule.patterns {
        if let other = places[rule.kind, default: [:]].updateValue(rule.place, forKey: pattern) {
          throw RuleError(problem: .duplicate(of: other), place: rule.place)
        }
      }
    }
    self.rules = rules
    let byKind = Dictionary(grouping: rules, by: \.kind)
    var tables: [Key: RuleTable] = [:]
    for kind in RuleKind.allCases {
      for subject in kind.subjects {
        tables[Key(kind: kind, subject: subject)] = RuleTable(byKind[kind] ?? [], subject)
      }
    }
    self.tables = tables
  }

  /// Returns the rules of a kind, to look up by one of the kind's subjects. Callers should keep the table for frequent
  /// lookups.
  package func table(_ kind: RuleKind, by subject: RuleSubject) -> RuleTable {
    guard let table = tables[Key(kind: kind, subject: subject)] else {
      preconditionFailure("rules of the kind \(kind.rawValue) are not looked up by \(subject.rawValue)")
    }
    return table
  }
}
