// The conditions that make a command fail, and their outcomes for the findings.

import LeakDetection
import TextWriting
import TraceReading
import Wording

/// Conditions in the given order.
package struct GateList: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Traces of one build.
    case analysis
    /// Two builds.
    case comparison
  }

  /// The word for an empty list.
  static let nothing = "none"

  package let subject: Subject
  package private(set) var conditions: [GateCondition] = []

  /// - Parameter texts: Each text is one condition, or several separated by commas. `none` alone means an empty list.
  package init(parsing texts: [String], for subject: Subject) throws(GateSyntaxError) {
    self.subject = subject
    var isNothing = false
    for text in texts {
      for word in text.split(separator: ",", omittingEmptySubsequences: false) {
        let word = String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        if word == Self.nothing {
          isNothing = true
          continue
        }
        let condition = try GateCondition(parsing: word, for: subject)
        if let other = conditions.first(where: { $0.name == condition.name }) {
          if other.threshold != condition.threshold { throw .contradiction(other.text, condition.text) }
        } else {
          conditions.append(condition)
        }
      }
    }
    if isNothing, !conditions.isEmpty { throw .nothingAndSomething }
  }

  package var isEmpty: Bool { conditions.isEmpty }

  /// True if some condition is about findings. Such a condition cannot be judged without a heap image.
  package var needsFindings: Bool {
    conditions.contains {
      [.leaks, .newLeaks, .suspects, .newSuspects, .worse, .libraryLeaks, .retained].contains($0.name)
        || $0.name == .growth && subject == .analysis
    }
  }

  /// True if suspicions can make some condition fail.
  package var judgesSuspicions: Bool {
    subject == .comparison || conditions.contains { [.suspects, .newSuspects, .growth].contains($0.name) }
  }

  /// The relative growth that makes a known finding worse: 0.05 unless `worse` sets another.
  package var tolerance: Double {
    for condition in conditions where condition.name == .worse {
      if case .part(let part)? = condition.threshold { return part }
    }
    return Baseline.tolerance
  }

  /// Returns the outcome of each condition for the findings of one build. A finding in several traces counts once, but
  /// with the sum of its bytes in all traces.
  package func outcomes(_ judged: [JudgedFinding]) -> [GateOutcome] {
    let program = judged.filter(\.isOfProgram)
    let unaccepted = judged.filter(\.isUnaccepted)
    let failing = unaccepted.filter { $0.finding.certainty == .proven }
    return conditions.map { condition in
      switch condition.name {
      case .leaks:
        Self.outcome(condition, findings: program.filter { $0.finding.certainty == .proven }, "of the program")
      case .newLeaks:
        Self.outcome(condition, findings: failing.filter { $0.standing == .new }, noun: "new finding")
      case .suspects:
        Self.outcome(condition, suspicions: program)
      case .newSuspects:
        Self.outcome(condition, suspicions: judged.filter { $0.standing == .new })
      case .worse:
        Self.outcome(condition, worse: failing.filter(\.isWorse))
      case .libraryLeaks:
        Self.outcome(condition, libraries: judged.filter { $0.standing == .library }.map(\.finding))
      case .retained:
        Self.outcome(condition, bytesOf: failing, "not accepted")
      case .growth:
        if case .bytes? = condition.threshold {
          Self.outcome(condition, bytesOf: unaccepted.filter(\.finding.keepsGrowing), "that keep growing")
        } else {
          Self.outcome(condition, findings: unaccepted.filter(\.finding.keepsGrowing), "that keep growing")
        }
      case .peak, .allocations, .temporary, .retains, .regressions:
        // The parser accepts these conditions only for comparisons.
        GateOutcome(gate: condition.text, hasFailed: true, explanation: "cannot be judged: it compares two builds")
      }
    }
  }

  /// Judges the suspicions that are not weak.
  package static func outcome(_ condition: GateCondition, suspicions: [JudgedFinding]) -> GateOutcome {
    let listed = suspicions.filter { $0.finding.certainty == .suspected && !$0.finding.isWeak }
    return outcome(
      condition, findings: listed, noun: condition.name == .newSuspects ? "new strong suspicion" : "strong suspicion")
  }

  /// Fails at the threshold's number of findings, or at one if there is no threshold.
  package static func outcome(
    _ condition: GateCondition, findings: [JudgedFinding], _ kind: String = "", noun: String = "finding"
  ) -> GateOutcome {
    let count = UInt64(Set(findings.map(\.finding.fingerprint)).count)
    var limit: UInt64 = 1
    if case .count(let least)? = condition.threshold { limit = least }
    return GateOutcome(
      gate: condition.text, hasFailed: count >= limit,
      explanation:
        "\(count == 0 ? "no \(noun)" : Decimal.counted(count, noun))\(kind.isEmpty ? "" : " ")\(kind)\(limit > 1 ? "; fails at \(Decimal.grouped(limit))" : "")"
    )
  }

  package static func outcome(_ condition: GateCondition, worse: [JudgedFinding]) -> GateOutcome {
    let count = UInt64(Set(worse.map(\.finding.fingerprint)).count)
    let by = condition.threshold.map { " by at least \(words($0))" } ?? ""
    return GateOutcome(
      gate: condition.text, hasFailed: count > 0,
      explanation: "\(count == 0 ? "no known finding" : Decimal.counted(count, "known finding")) got worse\(by)")
  }

  /// Fails if a single library finding reaches the threshold.
  private static func outcome(_ condition: GateCondition, libraries: [Finding]) -> GateOutcome {
    var (bytes, blocks): (UInt64?, UInt64?) = (Finding.largeLibraryBytes, Finding.largeLibraryBlocks)
    switch condition.threshold {
    case .bytes(let least)?: (bytes, blocks) = (least, nil)
    case .count(let least)?: (bytes, blocks) = (nil, least)
    case .part?, nil: break
    }
    let limit = [bytes.map { Decimal.bytes($0) }, blocks.map { Decimal.counted($0, "block") }].compactMap { $0 }
      .joined(separator: " or ")
    let large = libraries.filter { $0.isLibraryLeak(bytes: bytes, blocks: blocks) }
    guard let first = large.max(by: { $0.retainedBytes.rawValue < $1.retainedBytes.rawValue }),
      let reason = first.owner.reason
    else {
      return GateOutcome(gate: condition.text, hasFailed: false, explanation: "no library leaked \(limit)")
    }
    let count = UInt64(Set(large.map(\.fingerprint)).count)
    return GateOutcome(
      gate: condition.text, hasFailed: true,
      explanation:
        "\(Decimal.counted(count, "finding")) of a library with \(limit) or more: \(Decimal.bytes(first.retainedBytes.rawValue)) in \(Decimal.counted(first.retainedBlocks, "block")) (\(reason)). A pattern in the file of --suppressions accepts it"
    )
  }

  private static func outcome(_ condition: GateCondition, bytesOf findings: [JudgedFinding], _ kind: String)
    -> GateOutcome
  {
    var limit: UInt64 = 1
    if case .bytes(let least)? = condition.threshold { limit = least }
    let bytes = findings.reduce(UInt64(0)) { sum, judged in
      let (total, overflow) = sum.addingReportingOverflow(judged.finding.retainedBytes.rawValue)
      return overflow ? .max : total
    }
    return GateOutcome(
      gate: condition.text, hasFailed: bytes >= limit,
      explanation: "findings \(kind) retain \(Decimal.bytes(bytes)); fails at \(Decimal.bytes(limit))")
  }

  /// `10 %`, `1.00 MiB`, `3`.
  package static func words(_ threshold: GateCondition.Threshold) -> String {
    switch threshold {
    case .count(let count): Decimal.grouped(count)
    case .bytes(let bytes): Decimal.bytes(bytes)
    case .part(let part): percent(part)
    }
  }

  static func percent(_ part: Double) -> String {
    let text = Decimal.fixed(part * 100, places: 1)
    return "\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) %"
  }
}

extension JudgedFinding {
  /// Whether the finding is neither a library's nor hidden by a suppression.
  package var isOfProgram: Bool {
    switch standing {
    case .new, .worse, .known: true
    case .hidden, .library: false
    }
  }

  package var isWorse: Bool { if case .worse = standing { true } else { false } }

  /// Joins findings by fingerprint, in order of first occurrence: a finding in several traces of one build is one
  /// finding. Keeps the finding with the most instances, and gives it the tests of all joined findings.
  package static func union(_ all: [JudgedFinding]) -> [JudgedFinding] {
    var indices: [String: Int] = [:]
    var result: [JudgedFinding] = []
    for judged in all {
      if let index = indices[judged.finding.fingerprint] {
        let tests = joined(result[index].finding.origins.tests, judged.finding.origins.tests)
        if judged.finding.instances > result[index].finding.instances { result[index] = judged }
        result[index].finding.origins.tests = tests
      } else {
        indices[judged.finding.fingerprint] = result.count
        result.append(judged)
      }
    }
    return result
  }

  /// Joins equal tests. The tests with the most instances come first.
  private static func joined(_ tests: [Finding.TestShare], _ others: [Finding.TestShare]) -> [Finding.TestShare] {
    var shares: [String: Finding.TestShare] = [:]
    for share in tests + others {
      var sum = share
      if let known = shares[share.name] {
        let (instances, overflow) = known.instances.addingReportingOverflow(share.instances)
        sum.instances = overflow ? .max : instances
      }
      shares[share.name] = sum
    }
    return shares.values.sorted { ($1.instances, $0.name) < ($0.instances, $1.name) }
  }
}

extension Finding {
  /// A library's leak of at least this size makes the program grow noticeably.
  static let largeLibraryBytes: UInt64 = 1 << 20
  static let largeLibraryBlocks: UInt64 = 1000

  /// Returns whether the finding is a proven leak of a library with at least this number of bytes or blocks. A nil
  /// amount is ignored.
  func isLibraryLeak(
    bytes: UInt64? = Finding.largeLibraryBytes, blocks: UInt64? = Finding.largeLibraryBlocks
  ) -> Bool {
    isLibrary && owner != .unknown && certainty == .proven
      && (bytes.map { retainedBytes.rawValue >= $0 } == true || blocks.map { retainedBlocks >= $0 } == true)
  }

  /// True if the number of the finding's objects grew from the first quarter of the work to the last. False for weak
  /// suspicions.
  var keepsGrowing: Bool {
    guard !isWeak else { return false }
    let growth = evidence.growth
    return verdict == .accumulating || verdict == .growing || (growth.last ?? 0) > (growth.first ?? 0)
  }
}
