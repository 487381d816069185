// The findings of one side's runs, in one list.

import LeakDetection
import TraceReading

/// One entry for each cause at each place, with the finding of each run. If a cause disappears at one place and appears
/// at another, its finding is gone at the first place and new at the second. Leaves out library findings, because they
/// are not the program's fault.
struct ComparedFindings {
  struct Entry {
    /// The finding in the run with the most instances.
    var finding: Finding
    /// For each step of the path: stable names of the allocating functions, innermost first.
    var allocations: [[String]]
    var identity: NamedIdentity
    /// For each run: its finding; nil if the run does not have it.
    var runs: [Finding?]

    var foundIn: Int { runs.lazy.filter { $0 != nil }.count }

    func values(_ figure: Figure) -> [Double] { runs.map { $0.map { Double($0[figure]) } ?? 0 } }

    var item: NamedItem {
      let identity = identity
      return NamedItem(parts: identity.parts, amount: Spread(values(.instances)).highest)
    }
  }

  private(set) var entries: [Entry] = []

  init(_ runs: [RunDigest], _ vocabulary: Vocabulary, side: Vocabulary.Side) {
    var known: [[String]: Int] = [:]
    for (run, digest) in runs.enumerated() {
      for digested in digest.findings ?? [] where !digested.finding.isLibrary {
        var finding = digested.finding
        let identity = FindingIdentity(finding)
        let parts = identity.parts
        if let number = known[parts] {
          // A run may have several findings that differ only in the lines of one function. A comparison joins them.
          if var other = entries[number].runs[run] {
            other.add(finding)
            finding = other
          }
          entries[number].runs[run] = finding
          if finding.instances > entries[number].finding.instances {
            entries[number].finding = finding
            entries[number].allocations = digested.allocations
          }
        } else {
          known[parts] = entries.count
          var found = [Finding?](repeating: nil, count: runs.count)
          found[run] = finding
          entries.append(
            Entry(
              finding: finding, allocations: digested.allocations,
              identity: NamedIdentity(identity, vocabulary, side: side), runs: found))
        }
      }
    }
  }
}

/// A finding's identity, with the vocabulary's numbers in place of names.
struct NamedIdentity {
  var head: [Int32]
  var steps: [[Int32]]
  var isCycle: Bool
  var tail: [Int32]

  init(_ identity: FindingIdentity, _ vocabulary: Vocabulary, side: Vocabulary.Side) {
    head = identity.head.map { vocabulary.number(of: $0, on: side) }
    steps = identity.steps.map { $0.map { vocabulary.number(of: $0, on: side) } }
    isCycle = identity.isCycle
    tail = identity.tail.map { vocabulary.number(of: $0, on: side) }
  }

  /// Returns the numbers of the identity twice: translated by `name`, and unchanged. Rotates a cycle so that equal
  /// cycles have equal translated numbers.
  func parts(_ name: (Int32) -> Int32) -> (named: [Int32], own: [Int32]) {
    let start = isCycle ? firstRotation(name) : 0
    let rotated = steps[start...] + steps[..<start]
    let own = head + rotated.flatMap { $0 } + tail
    return (own.map(name), own)
  }

  private func firstRotation(_ name: (Int32) -> Int32) -> Int {
    let named = steps.map { $0.map(name) }
    return named.indices.min { a, b in
      (named[a...] + named[..<a]).lexicographicallyPrecedes(named[b...] + named[..<b]) {
        $0.lexicographicallyPrecedes($1)
      }
    } ?? 0
  }
}

extension Finding {
  /// Returns a figure of this finding; 0 for figures that findings do not have.
  subscript(figure: Figure) -> UInt64 {
    if figure == .instances { return comparableInstances }
    // Count only the instances of a failed expectation. Chance decides what else is in memory when an expectation
    // fails.
    if expectation != nil { return 0 }
    switch figure {
    case .retainedBytes: return retainedBytes.rawValue
    case .growth:
      // Objects that existed from the start, or that came and went, are not growth.
      guard let first = evidence.growth.first, let last = evidence.growth.last, last > first else { return 0 }
      return UInt64(last.subtractingReportingOverflow(first).partialValue.magnitude)
    default: return 0
    }
  }
}

extension SiteTotal {
  /// Returns a figure of this site's allocations; 0 for figures that sites do not have.
  subscript(figure: Figure) -> UInt64 {
    switch figure {
    case .liveBytes: liveBytes
    case .liveBlocks: liveBlocks
    case .peakBytes: peakBytes
    case .allocatedBytes: allocatedBytes
    case .allocatedBlocks: allocatedBlocks
    case .temporaryBlocks: temporaryBlocks
    case .retains: retains
    case .releases: releases
    default: 0
    }
  }
}
