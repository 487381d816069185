// The file of findings that are known and accepted.

import LeakDetection
import TraceReading
import Wording

/// Accepted findings, one a line: fingerprint, instances, verdict, subject in quotation marks, and to the end of the
/// line the reason.
///
///     4f1c0a9be2d37586 20 retainCycle "TimelineViewModel ↺" third-party player; reported upstream
///
/// Only fingerprint and instances decide; verdict and subject are for people. Lines that begin with `#` are comments;
/// those right above a line go where it goes. Lines are sorted by fingerprint, so that one finding more is one line
/// more.
package struct Baseline: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// 16 hexadecimal digits.
    package var fingerprint: String
    /// In one process: of several the most.
    package var instances: Int
    package var verdict: String
    /// The leak, in words.
    package var subject: String
    /// The reason for accepting it; empty if none was given.
    package var reason: String
    /// Lines above it, with their `#`.
    package var comments: [String] = []

    package init(fingerprint: String, instances: Int, verdict: String, subject: String, reason: String) {
      (self.fingerprint, self.instances, self.verdict, self.subject, self.reason) = (
        fingerprint, instances, verdict, subject, reason
      )
    }

    init(_ finding: Finding) {
      self.init(
        fingerprint: finding.fingerprint, instances: Int(clamping: finding.comparableInstances),
        verdict: finding.verdict.rawValue,
        subject: FindingTitle.subject(finding), reason: "")
    }
  }

  /// The least increase over the accepted instances that counts as worse, unless a gate sets another; at least one more
  /// instance in any case.
  package static let tolerance = 0.05

  /// Sorted by fingerprint, each once.
  package private(set) var entries: [Entry]
  /// Comment lines before the first entry.
  private(set) var head: [String]
  /// Comment lines after the last entry.
  private(set) var tail: [String]

  /// Accepts nothing.
  package init() { (entries, head, tail) = ([], Self.standardHead, []) }

  /// - Parameter entries: In any order. Entries with equal fingerprints are merged: the greater number of instances
  ///   counts, and each given reason is kept.
  init(_ entries: [Entry], head: [String], tail: [String]) {
    var merged: [String: Entry] = [:]
    for entry in entries {
      guard var other = merged[entry.fingerprint] else {
        merged[entry.fingerprint] = entry
        continue
      }
      let reasons = other.reason == entry.reason ? [other.reason] : [other.reason, entry.reason].filter { !$0.isEmpty }
      other.reason = reasons.joined(separator: "; ")
      other.instances = max(other.instances, entry.instances)
      other.comments += entry.comments.filter { !other.comments.contains($0) }
      merged[entry.fingerprint] = other
    }
    self.entries = merged.values.sorted { $0.fingerprint < $1.fingerprint }
    (self.head, self.tail) = (head, tail)
  }

  /// The entry that accepts a finding. O(log n).
  package subscript(fingerprint: String) -> Entry? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].fingerprint < fingerprint { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].fingerprint == fingerprint ? entries[low] : nil
  }

  // MARK: Judging

  /// Compares findings with this baseline.
  ///
  /// - Parameters:
  ///   - tolerance: An accepted finding is worse if it has more instances by this part of them or more, and by one at
  ///     least.
  ///   - judgesSuspicions: True if suspicions can fail a gate as proofs do.
  package func judge(_ findings: [Finding], tolerance: Double = Baseline.tolerance, judgesSuspicions: Bool = false)
    -> [JudgedFinding]
  {
    findings.map { JudgedFinding($0, standing(of: $0, tolerance), judgesSuspicions: judgesSuspicions) }
  }

  /// Findings that another comparison calls new, and that are accepted here, are known; all else stays as it was
  /// judged.
  package func accepting(_ judged: [JudgedFinding], tolerance: Double = Baseline.tolerance) -> [JudgedFinding] {
    judged.map {
      $0.standing == .new
        ? JudgedFinding($0.finding, standing(of: $0.finding, tolerance), judgesSuspicions: $0.judgesSuspicions) : $0
    }
  }

  private func standing(of finding: Finding, _ tolerance: Double) -> JudgedFinding.Standing {
    if let pattern = finding.suppression { return .hidden(pattern: pattern) }
    if finding.isLibrary { return .library }
    guard let entry = self[finding.fingerprint] else { return .new }
    let instances = Int(clamping: finding.comparableInstances)
    let more = instances - entry.instances
    // An increase of exactly the tolerance is worse, whatever its binary fraction.
    guard more >= 1, Double(more) >= Double(entry.instances) * tolerance - 1e-9 else {
      return .known(reason: entry.reason)
    }
    return .worse(
      "\(Decimal.counted(UInt64(instances), "instance")) where \(Decimal.grouped(UInt64(entry.instances))) are accepted"
    )
  }

  /// Entries that none of the findings has, suppressed and library ones included among these.
  package func unmatched(by findings: [Finding]) -> [Entry] {
    let found = Set(findings.lazy.filter { !$0.isLibrary && $0.suppression == nil }.map(\.fingerprint))
    return entries.filter { !found.contains($0.fingerprint) }
  }

  // MARK: Updating

  /// The changes that an update made.
  package struct Update: Hashable, Sendable {
    package var baseline: Baseline
    package var added: [Entry] = []
    package var dropped: [Entry] = []
    /// Those whose number of instances is another now, as they are now.
    package var changed: [Entry] = []

    package var isEmpty: Bool { added.isEmpty && dropped.isEmpty && changed.isEmpty }
  }

  /// A baseline that accepts these findings and no others. Entries that are still found keep their reasons and
  /// comments. Library findings and suppressed findings are not added. If several traces have a finding, the most
  /// instances count.
  package func updated(with findings: [Finding]) -> Update {
    let found = accepted(findings)
    return update(to: Baseline(Array(found.values), head: head, tail: tail))
  }

  /// A baseline that accepts these findings and everything that this one accepts, for an incomplete set of findings. No
  /// entry is removed, and none gets fewer instances.
  package func extended(with findings: [Finding]) -> Update {
    var all = accepted(findings)
    for entry in entries {
      var entry = entry
      if let found = all[entry.fingerprint] { entry.instances = max(entry.instances, found.instances) }
      all[entry.fingerprint] = entry
    }
    return update(to: Baseline(Array(all.values), head: head, tail: tail))
  }

  private func update(to baseline: Baseline) -> Update {
    Update(
      baseline: baseline, added: baseline.entries.filter { self[$0.fingerprint] == nil },
      dropped: entries.filter { baseline[$0.fingerprint] == nil },
      changed: baseline.entries.filter { entry in
        self[entry.fingerprint].map { $0.instances != entry.instances } ?? false
      })
  }

  /// Entries for findings, by fingerprint.
  private func accepted(_ findings: [Finding]) -> [String: Entry] {
    var found: [String: Entry] = [:]
    for finding in findings where !finding.isLibrary && finding.suppression == nil {
      var entry = Entry(finding)
      if let other = found[entry.fingerprint] { entry.instances = max(entry.instances, other.instances) }
      // The subject stays, too: a size in it is another in every run.
      if let old = self[entry.fingerprint] {
        (entry.subject, entry.reason, entry.comments) = (old.subject, old.reason, old.comments)
      }
      found[entry.fingerprint] = entry
    }
    return found
  }
}

extension Baseline.Entry: CustomStringConvertible {
  /// `4f1c0a9be2d37586 retainCycle TimelineViewModel ↺, 20 instances`.
  package var description: String {
    "\(fingerprint) \(verdict) \(PlainText.escaped(subject)), \(Decimal.counted(UInt64(instances), "instance"))"
  }
}
