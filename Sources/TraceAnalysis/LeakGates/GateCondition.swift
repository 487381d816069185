// One condition of a gate, parsed from text: `new-leaks`, `retained:1MiB`, `peak:10%`.

import TextWriting
import TraceReading

/// A condition and the smallest amount that makes it fail.
package struct GateCondition: Hashable, Sendable {
  package enum Name: String, CaseIterable, Hashable, Sendable {
    /// Proven findings of the program, accepted or not.
    case leaks
    /// Proven findings that were not known before.
    case newLeaks = "new-leaks"
    /// Strong suspicions, accepted or not. `newSuspects`: strong suspicions that were not known before.
    case suspects
    case newSuspects = "new-suspects"
    /// Findings that were known before and got worse.
    case worse
    /// Proven findings of libraries that are large enough to matter.
    case libraryLeaks = "library-leaks"
    /// The sum of the bytes that proven, unaccepted findings retain.
    case retained
    /// For one build: findings that keep growing. For two builds: the increase of live bytes at exit.
    case growth
    case peak, allocations, temporary
    /// Retains or releases.
    case retains
    /// Any figure of the whole program.
    case regressions
  }

  package enum Threshold: Hashable, Sendable {
    case count(UInt64)
    case bytes(UInt64)
    /// 0.1 for ten percent.
    case part(Double)
  }

  package var name: Name
  /// The smallest amount that makes the condition fail; nil for any amount.
  package var threshold: Threshold?
  /// The text that the condition was parsed from.
  package var text: String

  /// Returns the names of the conditions for a subject, and the word for none.
  package static func names(for subject: GateList.Subject) -> [String] {
    Name.allCases.filter { $0.kinds(for: subject) != nil }.map(\.rawValue) + [GateList.nothing]
  }

  /// - Parameter text: A name, optionally followed by a colon and a threshold.
  /// - Throws: A `GateSyntaxError` that says what is allowed for the subject.
  package init(parsing text: String, for subject: GateList.Subject) throws(GateSyntaxError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let name = Name(rawValue: parts[0]), name.kinds(for: subject) != nil else {
      let allowed = Self.names(for: subject)
      // A name that only the other subject has is not a typing error.
      let otherSubject = Name(rawValue: parts[0]) != nil
      throw .unknownName(
        parts[0], allowed: allowed,
        suggestion: otherSubject ? nil : NearestWords.nearest(to: parts[0], among: allowed, limit: 1).first, subject)
    }
    (self.name, self.text) = (name, text)
    let kinds = name.kinds(for: subject)!
    guard parts.count == 2 else {
      if name == .retained { throw .missingThreshold(name.rawValue) }
      return
    }
    guard let threshold = Threshold(parsing: parts[1]), kinds.contains(threshold.kind) else {
      throw .badThreshold(text, allowed: kinds.map(\.example))
    }
    self.threshold = threshold
  }
}

extension GateCondition.Name {
  /// The kinds of threshold that the condition accepts; nil if the subject has no such condition.
  func kinds(for subject: GateList.Subject) -> [GateCondition.Threshold.Kind]? {
    switch (self, subject) {
    case (.leaks, _), (.newLeaks, _), (.suspects, _), (.newSuspects, _): [.count]
    case (.worse, _): [.part]
    case (.retained, .analysis): [.bytes]
    case (.growth, .analysis), (.libraryLeaks, .analysis): [.count, .bytes]
    case (.growth, .comparison), (.peak, .comparison): [.bytes, .part]
    case (.allocations, .comparison): [.count, .bytes, .part]
    case (.temporary, .comparison), (.retains, .comparison): [.count, .part]
    case (.regressions, .comparison): [.part]
    case (.retained, .comparison), (.libraryLeaks, .comparison), (.peak, .analysis), (.allocations, .analysis),
      (.temporary, .analysis),
      (.retains, .analysis),
      (.regressions, .analysis):
      nil
    }
  }
}

extension GateCondition.Threshold {
  enum Kind: Hashable, Sendable {
    case count, bytes, part

    var example: String {
      switch self {
      case .count: "a number of 1 or more (3)"
      case .bytes: "a size (64KiB, 1MB)"
      case .part: "a percentage (10%)"
      }
    }
  }

  var kind: Kind {
    switch self {
    case .count: .count
    case .bytes: .bytes
    case .part: .part
    }
  }

  /// Reads a whole number, a size with its unit, or a percentage, each greater than 0.
  init?(parsing text: String) {
    guard let quantity = Quantity(parsing: text) else { return nil }
    if quantity.unit == "%" {
      self = .part(quantity.value / 100)
    } else if quantity.unit.isEmpty {
      guard let count = quantity.count else { return nil }
      self = .count(count)
    } else {
      guard let bytes = quantity.bytes else { return nil }
      self = .bytes(bytes)
    }
  }
}

/// A condition that cannot be parsed. The description lists the allowed conditions.
package enum GateSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownName(String, allowed: [String], suggestion: String?, GateList.Subject)
  case badThreshold(String, allowed: [String])
  case missingThreshold(String)
  /// `none` was combined with other conditions.
  case nothingAndSomething
  /// One condition was given with two thresholds.
  case contradiction(String, String)

  package var description: String {
    switch self {
    case .unknownName(let name, let allowed, let suggestion, let subject):
      let place = subject == .analysis ? "for a single build" : "for a comparison of builds"
      return
        "no condition '\(PlainText.escaped(name))' \(place)\(suggestion.map { "; did you mean '\($0)'?" } ?? ".") Allowed are \(allowed.joined(separator: ", "))"
    case .badThreshold(let text, let allowed):
      return "'\(PlainText.escaped(text))': the threshold must be \(allowed.joined(separator: " or "))"
    case .missingThreshold(let name):
      return "'\(name)' needs a threshold: \(name):1MiB fails if 1 MiB or more is retained"
    case .nothingAndSomething:
      return "'none' cannot be combined with other conditions"
    case .contradiction(let first, let second):
      return "'\(first)' and '\(second)' are the same condition with different thresholds"
    }
  }
}
