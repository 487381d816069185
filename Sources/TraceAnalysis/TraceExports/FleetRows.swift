// Rows for a table of many runs.

import LeakDetection
import RunDiff
import TextWriting
import TraceReading
import TraceSymbolication
import Wording

/// One run of a program as rows of JSON, one per line, for a database of the runs of a whole fleet.
///
/// Each row has every column, because a table's columns must not depend on the order of the rows. A column that does
/// not apply to a row is null. Names of types and functions are stable across builds. Rows contain no addresses.
package enum FleetRows {
  /// The run that the rows describe.
  package struct Origin: Hashable, Sendable {
    /// The machine's name; nil if none was given.
    package var host: String?
    /// The build's name, or the build ID of the program's file; nil if neither is known.
    package var build: String?
    /// A name that no other run has.
    package var run: String
    /// Start of the run in nanoseconds since 1970; 0 if the trace does not have it.
    package var startTime: UInt64

    package init(host: String?, build: String?, run: String, startTime: UInt64) {
      (self.host, self.build, self.run, self.startTime) = (host, build, run, startTime)
    }

    /// Takes missing values from the run's digest: the build ID, and a run name made of the start time and the process.
    /// Returns nil if the run has no name, as in digests of earlier versions.
    package init?(_ digest: RunDigest, host: String?, build: String?, run: String?) {
      guard let run = run ?? digest.origin.map({ "\($0.startTime)-\($0.process)" }) else { return nil }
      self.init(
        host: host, build: build ?? digest.origin?.buildID, run: run, startTime: digest.origin?.startTime ?? 0)
    }
  }

  /// Returns one row for the run, one for each type, one for each pair of a type and a function of the program, and one
  /// for each place of each finding. Linear in the digest's sites.
  package static func text(_ digest: RunDigest, _ origin: Origin) -> String {
    let head = Head(digest, origin)
    var types: [String: SiteTotal] = [:]
    var sites: [SiteKey: SiteTotal] = [:]
    var frames: [SiteKey: DiffFrame] = [:]
    for site in digest.sites {
      types[site.type, default: SiteTotal()] += site.total
      let frame = site.innermost >= 0 ? digest.frames[Int(site.innermost)] : nil
      let key = SiteKey(type: site.type, function: frame?.stableName)
      sites[key, default: SiteTotal()] += site.total
      if frames[key] == nil { frames[key] = frame }
    }
    var text = head.line("run", Row(total: digest.total))
    for (type, total) in types.sorted(by: { $0.key < $1.key }) {
      text += head.line("type", Row(type: type, total: total))
    }
    for (key, total) in sites.sorted(by: { $0.key < $1.key }) {
      let frame = frames[key]
      text += head.line(
        "site", Row(type: key.type, function: key.function, file: frame?.file, line: frame?.line, total: total))
    }
    for entry in digest.findings ?? [] {
      let finding = entry.finding
      let place = finding.origin
      text += head.line(
        "finding",
        Row(
          type: finding.path.first?.qualifiedType, function: place.map { StableName.of($0) }, file: place?.file,
          line: place?.line,
          finding: finding))
    }
    return text
  }

  private struct SiteKey: Hashable, Comparable {
    var type: String
    /// The program's function; nil if the stack has none.
    var function: String?

    static func < (a: Self, b: Self) -> Bool { (a.type, a.function ?? "") < (b.type, b.function ?? "") }
  }

  /// The columns that are specific to a row.
  private struct Row {
    var type: String?
    var function: String?
    var file: String?
    var line: Int?
    var total: SiteTotal?
    var finding: Finding?
  }

  /// The columns that all rows of a run share.
  private struct Head {
    private let fields: [(String, JSONValue)]

    init(_ digest: RunDigest, _ origin: Origin) {
      fields = [
        ("host", FleetRows.name(origin.host)), ("build", FleetRows.name(origin.build)),
        ("run", FleetRows.name(origin.run)), ("program", FleetRows.name(digest.program)),
        ("started_at", origin.startTime == 0 ? .null : .decimal(Double(origin.startTime) / 1e9)),
        ("findings_known", .bool(digest.findings != nil)),
      ]
    }

    func line(_ kind: String, _ row: Row) -> String {
      let (total, finding) = (row.total, row.finding)
      let own: [(String, JSONValue)] = [
        ("type", FleetRows.name(row.type)), ("function", FleetRows.name(row.function)),
        ("file", FleetRows.name(row.file)), ("line", row.line.map { .integer(Int64($0)) } ?? .null),
        ("allocated_blocks", FleetRows.number(total?.allocatedBlocks)),
        ("allocated_bytes", FleetRows.number(total?.allocatedBytes)),
        ("live_blocks", FleetRows.number(total?.liveBlocks)), ("live_bytes", FleetRows.number(total?.liveBytes)),
        ("peak_blocks", FleetRows.number(total?.peakBlocks)), ("peak_bytes", FleetRows.number(total?.peakBytes)),
        ("fingerprint", .optional(finding?.fingerprint)), ("verdict", .optional(finding?.verdict.rawValue)),
        ("certainty", .optional(finding?.certainty.rawValue)),
        ("is_library", finding.map { .bool($0.isLibrary) } ?? .null),
        ("title", FleetRows.name(finding.map(FindingTitle.subject))),
        ("instances", FleetRows.number(finding.map { UInt64(clamping: $0.instances) })),
        ("retained_blocks", FleetRows.number(finding?.retainedBlocks)),
        ("retained_bytes", FleetRows.number(finding?.retainedBytes.rawValue)),
      ]
      return JSONValue.object([("kind", .string(kind))] + fields + own).compactText + "\n"
    }
  }

  private static func name(_ text: String?) -> JSONValue { .optional(text.map(PlainText.escaped)) }

  /// Limits a number to the databases' signed 64-bit range. Only forged traces exceed it.
  private static func number(_ value: UInt64?) -> JSONValue {
    value.map { .integer(Int64(clamping: $0)) } ?? .null
  }
}
