// Looks up names in the patterns of rules.

import Glibc

/// The patterns of one kind of rule for one subject. Immutable.
package struct RuleTable: Sendable {
  /// A pattern that is a part of a name. `order`: the index of its rule.
  private struct Entry {
    var text: [UInt8]
    var order: Int
  }

  private let rules: [Rule]
  private var names: [String: Int] = [:]
  /// The patterns of beginnings, by their first byte.
  private var beginnings: [[Entry]] = []
  private var ends: [Entry] = []
  private var parts: [Entry] = []

  init(_ rules: [Rule], _ subject: RuleSubject) {
    self.rules = rules
    for (order, rule) in rules.enumerated() {
      for pattern in rule.patterns where pattern.subject == subject {
        let entry = Entry(text: Array(pattern.text.utf8), order: order)
        switch pattern.part {
        case .all: if names[pattern.text] == nil { names[pattern.text] = order }
        case .beginning:
          if beginnings.isEmpty { beginnings = Array(repeating: [], count: 256) }
          beginnings[Int(entry.text[0])].append(entry)
        case .end: ends.append(entry)
        case .any: parts.append(entry)
        }
      }
    }
  }

  /// Returns whether a rule matches. Whole names take one lookup. Beginnings are compared if their first byte matches.
  /// Ends and parts are all compared, in O(length × patterns).
  package func matches(_ name: some StringProtocol) -> Bool { order(name) != nil }

  /// Returns the first matching rule, in file order. As fast as `matches`.
  package func rule(for name: some StringProtocol) -> Rule? { order(name).map { rules[$0] } }

  /// Returns the statement of the first matching rule.
  package func statement(for name: some StringProtocol) -> String? { rule(for: name)?.statement }

  private func order(_ name: some StringProtocol) -> Int? {
    var found = Int.max
    if !names.isEmpty, let order = names[String(name)] { found = order }
    if !beginnings.isEmpty || !ends.isEmpty || !parts.isEmpty {
      let known = found
      let direct = name.utf8.withContiguousStorageIfAvailable { best(in: $0, known) }
      found = direct ?? Array(name.utf8).withUnsafeBufferPointer { best(in: $0, known) }
    }
    return found == .max ? nil : found
  }

  private func best(in name: UnsafeBufferPointer<UInt8>, _ known: Int) -> Int {
    guard let start = name.baseAddress else { return known }
    var found = known
    if !beginnings.isEmpty {
      for entry in beginnings[Int(start[0])] where entry.order < found && name.count >= entry.text.count {
        if memcmp(start, entry.text, entry.text.count) == 0 { found = entry.order }
      }
    }
    for entry in ends where entry.order < found && name.count >= entry.text.count {
      if memcmp(start + (name.count - entry.text.count), entry.text, entry.text.count) == 0 { found = entry.order }
    }
    for entry in parts where entry.order < found {
      if Self.contains(name, entry.text) { found = entry.order }
    }
    return found
  }

  /// Linear in practice: `memchr` finds the few places that have the first byte.
  private static func contains(_ name: UnsafeBufferPointer<UInt8>, _ text: [UInt8]) -> Bool {
    guard var place = UnsafeRawPointer(name.baseAddress), let first = text.first else { return false }
    // The text must begin before this address to fit into the name.
    let end = place + (name.count - text.count + 1)
    while place < end, let found = memchr(place, Int32(first), end - place) {
      if memcmp(found, text, text.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
