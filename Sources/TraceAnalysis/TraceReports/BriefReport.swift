// Short answers for agents and scripts, as JSON of limited size.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting
import TraceReading
import TraceSymbolication
import Wording

/// Renders answers whose compact JSON has at most a given number of bytes. Each answer names useful next calls: a tool of
/// `leaktrace mcp`, with its arguments. Formats only; makes no decisions.
package struct BriefReport {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1
  /// The usual limit in bytes, and the range of limits.
  package static let (usualSize, sizes) = (4096, 1024...(1 << 20))
  /// Maximum number of findings in an answer.
  package static let pageLength = 10

  /// A trace that the answers are about.
  package struct Trace: Sendable {
    package var path: String
    package var conclusion: String
    package var summary: String

    package init(path: String, leaks: LeakReport) {
      self.path = path
      conclusion = leaks.conclusion.rawValue
      summary = FindingText.conclusion(leaks).sentence
    }
  }

  private let document: FindingDocument
  private let traces: [Trace]
  private let size: Int
  /// The findings that count, the most important first.
  private let entries: [FindingDocument.Entry]

  /// `size`: maximum number of bytes of an answer.
  package init(_ document: FindingDocument, traces: [Trace], size: Int) {
    (self.document, self.traces, self.size) = (document, traces, size)
    entries = document.entries.filter { $0.finding.suppression == nil }.enumerated().sorted {
      let (a, b) = (Self.rank($0.element.finding), Self.rank($1.element.finding))
      return a != b ? a < b : $0.offset < $1.offset
    }.map(\.element)
  }

  /// The program's proven findings come first, then its suspicions, then libraries' findings.
  private static func rank(_ finding: Finding) -> Int {
    finding.isLibrary ? 2 : finding.certainty == .proven ? 0 : 1
  }

  static func object(_ kind: String, size: Int) -> BriefObject {
    var object = BriefObject(limit: size)
    object.require("schema", .string("leaktrace.brief"))
    object.require("schemaVersion", .number(schemaVersion))
    object.require("kind", .string(kind))
    return object
  }

  /// Returns a call that may help next.
  static func call(_ tool: String, _ arguments: [(String, JSONValue)], _ reason: String) -> JSONValue {
    .object([("tool", .string(tool)), ("arguments", .object(arguments)), ("reason", .string(reason))])
  }

  static func text(_ text: String, to limit: Int = 300) -> JSONValue {
    .string(BriefObject.cut(text, to: limit))
  }

  /// Returns a function with its file and line.
  static func words(_ frame: SourceFrame) -> String {
    [frame.function, frame.position].compactMap(\.self).joined(separator: "  ")
  }

  /// Returns an answer that says why there is no other.
  package static func failure(_ reason: String, size: Int) -> JSONValue {
    var object = object("failure", size: size)
    object.require("error", text(reason))
    return object.value
  }

  // MARK: Lists of findings

  /// Returns the findings from a position on. `cursor`: from an earlier answer; nil for the first findings.
  package func findings(cursor: String?) -> JSONValue {
    // No trace could be read, so an empty list would look like no leaks.
    if traces.isEmpty, let obstacle = document.obstacle { return Self.failure(obstacle, size: size) }
    let start = cursor.map { Int($0) ?? -1 } ?? 0
    guard start >= 0, start == 0 || start < entries.count else {
      return Self.failure("The cursor is not valid for this trace. Leave it out to begin.", size: size)
    }
    var object = Self.object("findings", size: size)
    if let trace = traces.first {
      object.require("trace", Self.text(trace.path, to: 120))
      object.require("conclusion", .string(trace.conclusion))
      object.require("summary", Self.text(trace.summary, to: 200))
    }
    if let obstacle = document.obstacle { object.require("obstacle", Self.text(obstacle, to: 200)) }
    object.require("total", .integer(Int64(entries.count)))
    var next = [(String, JSONValue)]()
    if let path = onlyPath { next.append(("trace", .string(path))) }
    let page = entries[start...].prefix(Self.pageLength)
    if let first = page.first, onlyPath != nil {
      object.add(
        "next",
        .array([
          Self.call(
            "finding", next + [("fingerprint", .string(first.finding.fingerprint))],
            "explains the first of these findings, with source lines")
        ]))
    }
    let shown = object.addList(
      "findings", page.enumerated().map { summary($0.element, rank: start + $0.offset + 1) }, notesRest: false)
    // A cursor must lead on, even if the limit is small.
    if shown == 0, let first = page.first {
      object.require(
        "findings", .array([.object([("fingerprint", .string(BriefObject.cut(first.finding.fingerprint, to: 40)))])]))
    }
    let end = start + max(shown, min(1, page.count))
    if end < entries.count { object.require("cursor", .string(String(end))) }
    object.addList("remarks", document.remarks.map { Self.text($0) })
    return object.value
  }

  private var onlyPath: String? { traces.count == 1 ? traces[0].path : nil }

  private func summary(_ entry: FindingDocument.Entry, rank: Int) -> JSONValue {
    let finding = entry.finding
    var fields: [(String, JSONValue)] = [("rank", .integer(Int64(rank)))]
    fields += Self.head(finding)
    if let standing = FindingDocument.standing(entry.judged) {
      fields.append(("standing", Self.text(standing, to: 80)))
    }
    if let place = entry.place {
      fields.append(("place", Self.text("\(place.path):\(place.line)", to: 160)))
    } else if let origin = finding.origin {
      fields.append(("place", Self.text(Self.words(origin), to: 160)))
    }
    return .object(fields)
  }

  private static func head(_ finding: Finding) -> [(String, JSONValue)] {
    [
      ("fingerprint", .string(BriefObject.cut(finding.fingerprint, to: 40))),
      ("verdict", .string(finding.verdict.rawValue)),
      ("certainty", .string(finding.certainty.rawValue)), ("title", text(FindingTitle.subject(finding), to: 120)),
      ("instances", .integer(Int64(finding.instances))), ("retainedBytes", .number(finding.retainedBytes.rawValue)),
    ]
  }

  // MARK: One finding

  /// Returns all about a finding that fits. `fingerprint`: the finding's, or its beginning.
  package func finding(_ fingerprint: String) -> JSONValue {
    let found = document.entries.filter { !fingerprint.isEmpty && $0.finding.fingerprint.hasPrefix(fingerprint) }
    guard let entry = found.first, found.count == 1 else {
      let reason =
        found.isEmpty ? "There is no finding" : "\(found.count) findings have fingerprints that begin with"
      return Self.failure("\(reason) \(fingerprint.prefix(40)). The tool findings lists them.", size: size)
    }
    let finding = entry.finding
    var object = Self.object("finding", size: size)
    if let path = onlyPath { object.require("trace", Self.text(path, to: 120)) }
    for (name, value) in Self.head(finding) { object.require(name, value) }
    object.require("explanation", Self.text(VerdictWords(finding.evidence).short, to: 200))
    object.addList("advice", finding.advice.map { Self.text(AdviceWords.sentence($0), to: 600) })
    object.addList("path", finding.path.enumerated().map { step($0.element, number: $0.offset, of: finding) })
    object.addList("sources", sources(entry))
    var next: [JSONValue] = []
    if let path = onlyPath {
      if let type = finding.path.last?.type, finding.path.last?.kind == .object {
        next.append(
          Self.call(
            "why", [("trace", .string(path)), ("object", Self.text(type, to: 120))], "shows what holds its objects"))
      }
      next.append(
        Self.call(
          "verify", [("old", .string(path)), ("fingerprints", .array([.string(finding.fingerprint)]))],
          "after a fix and a new recording (argument new): says whether it is gone"))
    }
    object.addList("next", next, notesRest: false)
    if finding.places.count > 1 { object.addList("places", finding.places.map(place)) }
    if let standing = FindingDocument.standing(entry.judged) { object.add("standing", Self.text(standing)) }
    object.addList("remarks", document.remarks.map { Self.text($0) })
    return object.value
  }

  private func step(_ step: Finding.Step, number: Int, of finding: Finding) -> JSONValue {
    var fields: [(String, JSONValue)] = [("object", Self.text(FindingTitle.name(step), to: 160))]
    if let place = step.kind == .closure ? step.function : step.place {
      fields.append((step.kind == .closure ? "code" : "allocatedIn", Self.text(Self.words(place), to: 200)))
    }
    if let reference = step.reference {
      let isLast = number == finding.path.count - 1
      let target = isLast ? finding.path.first : finding.path[number + 1]
      fields.append(
        (isLast ? "refersBackBy" : "refersBy", Self.text(ReferenceText.words(reference, to: target), to: 200)))
    }
    return .object(fields)
  }

  private func place(_ place: Finding.Place) -> JSONValue {
    .object([
      ("instances", .integer(Int64(place.instances))), ("retainedBytes", .number(place.retainedBytes.rawValue)),
      ("place", Self.text(place.place.map(Self.words) ?? "unknown", to: 200)),
    ])
  }

  /// Returns the lines of the source tree that the finding names, the best first.
  private func sources(_ entry: FindingDocument.Entry) -> [JSONValue] {
    guard let root = document.root else { return [] }
    var texts: [String: [Substring]?] = [:]
    return entry.notes.map { note in
      let path = note.place.path
      let lines =
        texts[path]
        ?? LocalSources().text(ofFile: root + "/" + path, limit: Self.largestSource)?
        .split(separator: "\n", omittingEmptySubsequences: false)
      texts[path] = .some(lines)
      let line = lines.flatMap { $0.indices.contains(note.place.line - 1) ? $0[note.place.line - 1] : nil }
      var fields: [(String, JSONValue)] = [
        ("file", Self.text(path, to: 160)), ("line", .integer(Int64(note.place.line))),
        ("role", Self.text(note.text, to: 160)),
      ]
      if let line { fields.append(("text", Self.text(String(line.drop { $0 == " " || $0 == "\t" }), to: 200))) }
      return .object(fields)
    }
  }

  /// Maximum bytes of a source file to show a line of.
  private static let largestSource = 4 << 20

  // MARK: Other questions

  /// Returns the answers of `verify` that fit. Findings that are still there come first.
  package static func verification(_ report: FixReport, size: Int) -> JSONValue {
    var object = object("verification", size: size)
    object.require("conclusion", .string(FixJSON.conclusion(report)))
    object.require("summary", text(FixWords.conclusion(report), to: 200))
    if let advice = FixWords.advice(report) { object.require("advice", text(advice, to: 200)) }
    object.addList(
      "unjudged",
      report.unjudged.map { .object([("run", text($0.path, to: 120)), ("reason", text($0.reason, to: 200))]) })
    let runs = Int64(report.new.runs.count)
    if let path = report.old.runs.first?.path,
      let finding = report.fixes.first(where: { $0.answer != .gone })?.old
    {
      object.addList(
        "next",
        [
          call(
            "finding",
            [("trace", .string(path)), ("fingerprint", .string(BriefObject.cut(finding.fingerprint, to: 40)))],
            "explains the first answer's finding in the old trace")
        ], notesRest: false)
    }
    object.addList(
      "newFindings",
      report.newFindings.map {
        .object(head($0.finding) + [("inRuns", .integer(Int64($0.runs))), ("ofRuns", .integer(runs))])
      })
    object.addList(
      "answers",
      report.fixes.map { fix in
        .object([
          ("answer", .string(fix.answer.rawValue)),
          ("fingerprint", .string(BriefObject.cut(fix.old.fingerprint, to: 40))),
          ("title", text(FindingTitle.subject(fix.new ?? fix.old), to: 120)),
          ("evidence", text(FixWords.evidence(fix))),
        ])
      })
    object.addList("remarks", report.remarks.map { text($0) })
    return object.value
  }

  /// Returns what keeps objects alive, as far as it fits. `path`: of the trace.
  package static func objects(
    _ answer: RetainAnswer, subject: String, path: String, remarks: [String], size: Int
  ) -> JSONValue {
    var object = object("holders", size: size)
    object.require("trace", text(path, to: 120))
    object.require("object", text(subject, to: 120))
    object.require("objects", .integer(Int64(answer.matches)))
    object.require("ways", .integer(Int64(answer.ways)))
    object.addList(
      "next",
      [call("findings", [("trace", .string(path))], "lists the leaks, if these objects should be gone")],
      notesRest: false)
    object.addList(
      "groups",
      answer.groups.map { group in
        // A long path is shown by its two ends.
        let steps = group.path
        let shown = steps.count <= 2 * stepsOfEnd ? steps : Array(steps.prefix(stepsOfEnd) + steps.suffix(stepsOfEnd))
        return .object([
          ("root", text(group.origin.name, to: 160)), ("rootKind", .string(group.origin.kind.key)),
          ("objects", .integer(Int64(group.instances))), ("retainedBytes", .number(group.retainedBytes.rawValue)),
          ("steps", .integer(Int64(steps.count))),
          (
            "path",
            .array(
              shown.map { step in
                let reference = step.reference.map { " " + ReferenceText.words($0, to: nil) } ?? ""
                return text(FindingTitle.name(step) + reference, to: 160)
              })
          ),
        ])
      })
    object.addList("remarks", remarks.map { text($0) })
    return object.value
  }

  private static let stepsOfEnd = 4

  /// Returns the outcome of a recording. `trace`: the path of the new trace; nil if there is none. `end`: how the program
  /// ended, in words. `output`, `errors`: the last output of the program and of the recorder.
  package static func recording(trace: String?, end: String, output: String, errors: String, size: Int) -> JSONValue {
    guard let trace else {
      return failure("No trace was written: \(end). \(errors)", size: size)
    }
    var object = object("recording", size: size)
    object.require("trace", text(trace, to: 400))
    object.require("end", text(end, to: 100))
    object.add("next", .array([call("findings", [("trace", .string(trace))], "lists its leaks")]))
    for (name, part) in [("errorOutput", errors), ("output", output)] where !part.isEmpty {
      object.add(name, text(part, to: max(100, (size - 600) / 3)))
    }
    return object.value
  }
}
