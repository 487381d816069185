// The file of findings that are known and accepted.

import LeakDetection
import TextWriting
import TraceReading
import Wording

/// Accepted findings, one per line. A line has the fingerprint, the number of instances, the verdict, and the subject
/// in quotation marks. The rest of the line is the reason.
///
///     4f1c0a9be2d37586 20 retainCycle "TimelineViewModel ↺" third-party player; reported upstream
///
/// Only the fingerprint and the number of instances matter to leaktrace. The verdict and the subject are for readers.
/// Lines that begin with `#` are comments. Comments directly above a finding stay with the finding. The findings are
/// sorted by fingerprint, so that a new finding adds one line and moves no other.
package struct Baseline: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// 16 hexadecimal digits.
    package var fingerprint: String
    /// The number in one process; the largest one if several processes have the finding.
    package var instances: Int
    package var verdict: String
    /// A description of the leak.
    package var subject: String
    /// The reason for accepting it; empty if none was given.
    package var reason: String
    /// The comment lines directly above the entry, with their `#`.
    var comments: [String] = []

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

  /// The smallest relative increase over the accepted instances that counts as worse, unless a gate sets another value.
  /// There must also be at least one more instance.
  package static let tolerance = 0.05

  /// The accepted findings, sorted by fingerprint; each fingerprint occurs once.
  package private(set) var entries: [Entry]
  /// Comment lines before the first entry.
  private(set) var head: [String]
  /// Comment lines after the last entry.
  private(set) var tail: [String]

  /// Accepts nothing.
  package init() { (entries, head, tail) = ([], Self.standardHead, []) }

  /// - Parameter entries: In any order. Entries with equal fingerprints are merged. The merged entry has the largest
  ///   number of instances and all reasons.
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

  /// The entry that accepts a finding; nil if there is none. O(log n).
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
  ///   - tolerance: An accepted finding is worse if its instances increased by at least this share of the accepted
  ///     number, and by at least one.
  ///   - judgesSuspicions: True if suspicions can fail a gate as proofs do.
  package func judge(_ findings: [Finding], tolerance: Double = Baseline.tolerance, judgesSuspicions: Bool = false)
    -> [JudgedFinding]
  {
    findings.map { JudgedFinding($0, standing(of: $0, tolerance), judgesSuspicions: judgesSuspicions) }
  }

  /// Judges the findings that another comparison calls new. If this baseline accepts such a finding, it becomes known
  /// or worse. All other findings keep their standing.
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
    // An increase of exactly the tolerance is worse, even if floating-point rounding makes it look smaller.
    guard more >= 1, Double(more) >= Double(entry.instances) * tolerance - 1e-9 else {
      return .known(reason: entry.reason)
    }
    return .worse(
      "\(Decimal.counted(UInt64(instances), "instance")) where \(Decimal.grouped(UInt64(entry.instances))) are accepted"
    )
  }

  /// Returns the entries that match none of the findings. Suppressed findings and library findings match no entry.
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
    /// The entries whose number of instances changed, with the new number.
    package var changed: [Entry] = []

    package var isEmpty: Bool { added.isEmpty && dropped.isEmpty && changed.isEmpty }
  }

  /// Returns a baseline that accepts these findings and no others. Entries that are still found keep their reasons and
  /// comments. Library findings and suppressed findings are not added. If several traces have a finding, the largest
  /// number of instances counts.
  package func updated(with findings: [Finding]) -> Update {
    let found = accepted(findings)
    return update(to: Baseline(Array(found.values), head: head, tail: tail))
  }

  /// Returns a baseline that accepts these findings and everything that this baseline accepts. Use it for an incomplete
  /// set of findings: it removes no entry, and lowers no number of instances.
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

  /// Returns entries for the findings, by fingerprint.
  private func accepted(_ findings: [Finding]) -> [String: Entry] {
    var found: [String: Entry] = [:]
    for finding in findings where !finding.isLibrary && finding.suppression == nil {
      var entry = Entry(finding)
      if let other = found[entry.fingerprint] { entry.instances = max(entry.instances, other.instances) }
      // Keep the old subject, because a size in it differs in every run.
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
