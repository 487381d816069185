// The file of findings that are known and accepted.

/// Accepted findings, one a line: fingerprint, instances, verdict, subject in quotation marks, and to the end of the line the reason.
///
///     4f1c0a9be2d37586 20 retainCycle "TimelineViewModel ↺" third-party player; reported upstream
///
/// Only fingerprint and instances decide; verdict and subject are for people. Lines that begin with `#` are comments; those right above a
/// line go where it goes. Lines are sorted by fingerprint, so that one finding more is one line more.
public struct Baseline: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    /// 16 hexadecimal digits.
    public var fingerprint: String
    /// In one process: of several the most.
    public var instances: Int
    public var verdict: String
    /// What leaks, in words.
    public var subject: String
    /// Why it is accepted; empty where nobody said.
    public var reason: String
    /// Lines above it, with their `#`.
    public var comments: [String] = []

    public init(fingerprint: String, instances: Int, verdict: String, subject: String, reason: String) {
      (self.fingerprint, self.instances, self.verdict, self.subject, self.reason) = (fingerprint, instances, verdict, subject, reason)
    }

    init(_ finding: Finding) {
      self.init(
        fingerprint: finding.fingerprint, instances: Int(clamping: finding[.instances]), verdict: finding.verdict.rawValue,
        subject: FindingText(style: TextStyle()).subject(finding), reason: "")
    }
  }

  /// How much more than the accepted instances is worse, unless a gate says otherwise; at least one more in any case.
  public static let tolerance = 0.05

  /// Sorted by fingerprint, each once.
  public private(set) var entries: [Entry]
  /// Comment lines before the first entry.
  private(set) var head: [String]
  /// Comment lines after the last entry.
  private(set) var tail: [String]

  /// Accepts nothing.
  public init() { (entries, head, tail) = ([], Self.standardHead, []) }

  /// - Parameter entries: In any order. Of equal fingerprints the greater number of instances counts, and each reason that is given.
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
  public subscript(fingerprint: String) -> Entry? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].fingerprint < fingerprint { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].fingerprint == fingerprint ? entries[low] : nil
  }

  // MARK: Judging

  /// How findings stand to this baseline.
  ///
  /// - Parameters:
  ///   - tolerance: An accepted finding is worse if it has more instances by this part of them or more, and by one at least.
  ///   - judgesSuspicions: Whether suspicions can fail a gate as proofs do.
  public func judge(_ findings: [Finding], tolerance: Double = Baseline.tolerance, judgesSuspicions: Bool = false) -> [JudgedFinding] {
    findings.map { JudgedFinding($0, standing(of: $0, tolerance), judgesSuspicions: judgesSuspicions) }
  }

  /// Findings that another comparison calls new, and that are accepted here, are known; all else stays as it was judged.
  public func accepting(_ judged: [JudgedFinding], tolerance: Double = Baseline.tolerance) -> [JudgedFinding] {
    judged.map { $0.standing == .new ? JudgedFinding($0.finding, standing(of: $0.finding, tolerance), judgesSuspicions: $0.judgesSuspicions) : $0 }
  }

  private func standing(of finding: Finding, _ tolerance: Double) -> JudgedFinding.Standing {
    if let pattern = finding.suppression { return .hidden(pattern: pattern) }
    if finding.isLibrary { return .library }
    guard let entry = self[finding.fingerprint] else { return .new }
    let instances = Int(clamping: finding[.instances])
    let more = instances - entry.instances
    // What is exactly at the tolerance is worse, whatever its binary fraction.
    guard more >= 1, Double(more) >= Double(entry.instances) * tolerance - 1e-9 else { return .known(reason: entry.reason) }
    return .worse("\(Decimal.counted(UInt64(instances), "instance")) where \(Decimal.grouped(UInt64(entry.instances))) are accepted")
  }

  /// Entries that none of the findings has, suppressed and library ones included among these.
  public func unmatched(by findings: [Finding]) -> [Entry] {
    let found = Set(findings.lazy.filter { !$0.isLibrary && $0.suppression == nil }.map(\.fingerprint))
    return entries.filter { !found.contains($0.fingerprint) }
  }

  // MARK: Updating

  /// What an update changed.
  public struct Update: Hashable, Sendable {
    public var baseline: Baseline
    public var added: [Entry] = []
    public var dropped: [Entry] = []
    /// Those whose number of instances is another now, as they are now.
    public var changed: [Entry] = []

    public var isEmpty: Bool { added.isEmpty && dropped.isEmpty && changed.isEmpty }
  }

  /// A baseline that accepts these findings and no others: reasons and comments of those still found stay. What is a library's or suppressed is
  /// not put in. Of a finding in several traces the most instances count.
  public func updated(with findings: [Finding]) -> Update {
    var found: [String: Entry] = [:]
    for finding in findings where !finding.isLibrary && finding.suppression == nil {
      var entry = Entry(finding)
      if let other = found[entry.fingerprint] { entry.instances = max(entry.instances, other.instances) }
      // The subject stays, too: a size in it is another in every run.
      if let old = self[entry.fingerprint] { (entry.subject, entry.reason, entry.comments) = (old.subject, old.reason, old.comments) }
      found[entry.fingerprint] = entry
    }
    let baseline = Baseline(Array(found.values), head: head, tail: tail)
    return Update(
      baseline: baseline, added: baseline.entries.filter { self[$0.fingerprint] == nil }, dropped: entries.filter { found[$0.fingerprint] == nil },
      changed: baseline.entries.filter { entry in self[entry.fingerprint].map { $0.instances != entry.instances } ?? false })
  }
}

extension Baseline.Entry: CustomStringConvertible {
  /// `4f1c0a9be2d37586 retainCycle TimelineViewModel ↺, 20 instances`.
  public var description: String {
    "\(fingerprint) \(verdict) \(PlainText.escaped(subject)), \(Decimal.counted(UInt64(instances), "instance"))"
  }
}
