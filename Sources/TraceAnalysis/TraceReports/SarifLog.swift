// Findings as SARIF 2.1.0, the format of code scanning.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import Wording

/// Renders findings as a SARIF log of one run. Formats only; makes no decisions.
struct SarifLog {
  /// The name for the source tree's root in URIs.
  private static let base = "SRCROOT"

  let document: FindingDocument

  var text: String {
    JSONValue.object([
      (
        "$schema", .string("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
      ),
      ("version", .string("2.1.0")),
      ("runs", .array([run])),
    ]).text + "\n"
  }

  private var run: JSONValue {
    var base: [(String, JSONValue)] = [("description", Self.message("The root of the source tree."))]
    if let root = document.root {
      base.insert(("uri", .string("file://" + Self.encoded(root.hasSuffix("/") ? root : root + "/"))), at: 0)
    }
    return .object([
      ("tool", .object([("driver", driver)])),
      ("automationDetails", .object([("id", .string("leaktrace/\(document.programName)/"))])),
      ("originalUriBaseIds", .object([(Self.base, .object(base))])),
      (
        "invocations",
        .array([
          .object([
            ("executionSuccessful", .bool(document.unjudged == nil)),
            ("toolExecutionNotifications", .array(notifications)),
          ])
        ])
      ),
      ("results", .array(document.entries.map(result))),
      (
        "properties",
        .object([("program", .string(document.program)), ("gates", .array(document.gates.map(Self.value)))])
      ),
    ])
  }

  private var notifications: [JSONValue] {
    let obstacle = document.obstacle
    return ([obstacle].compactMap(\.self) + document.remarks.filter { $0 != obstacle }).map { text in
      .object([("level", .string(text == obstacle ? "error" : "note")), ("message", Self.message(text))])
    }
  }

  static func value(_ gate: GateOutcome) -> JSONValue {
    .object([
      ("gate", .string(gate.gate)), ("hasFailed", .bool(gate.hasFailed)), ("explanation", .string(gate.explanation)),
    ])
  }

  // MARK: Rules

  private var driver: JSONValue {
    var fields: [(String, JSONValue)] = [("name", .string("leaktrace"))]
    // SARIF allows no empty version.
    if !document.toolVersion.isEmpty { fields.append(("version", .string(document.toolVersion))) }
    return .object(fields + [("rules", .array(Verdict.allCases.map(rule)))])
  }

  private func rule(_ verdict: Verdict) -> JSONValue {
    let description = VerdictWords(verdict)
    return .object([
      ("id", .string(verdict.rawValue)),
      ("name", .string(verdict.rawValue.prefix(1).uppercased() + verdict.rawValue.dropFirst())),
      ("shortDescription", Self.message(description.short)),
      ("fullDescription", Self.message(description.full)),
      ("help", Self.message(description.help)),
      ("defaultConfiguration", .object([("level", .string(Self.level(verdict.certainty)))])),
      (
        "properties",
        .object([
          ("tags", .array([.string("memory"), .string("leak")])),
          ("precision", .string(verdict.certainty == .proven ? "high" : "medium")),
          ("problem.severity", .string(Self.level(verdict.certainty))),
        ])
      ),
    ])
  }

  private static func level(_ certainty: Finding.Certainty) -> String { certainty == .proven ? "error" : "warning" }

  // MARK: Results

  private func result(_ entry: FindingDocument.Entry) -> JSONValue {
    let finding = entry.finding
    let isLibrary = entry.judged.standing == .library
    var fields: [(String, JSONValue)] = [
      ("ruleId", .string(finding.verdict.rawValue)),
      ("ruleIndex", .integer(Int64(Verdict.allCases.firstIndex(of: finding.verdict)!))),
      ("level", .string(isLibrary ? "note" : Self.level(finding.certainty))),
      (
        "message",
        .object([
          (
            "text",
            .string(Self.escaped("\(FindingDocument.headline(finding)). \(FindingDocument.summary(entry.judged))"))
          ),
          ("markdown", .string(Self.escaped(MarkdownText.preformatted(FindingDocument.body(finding))))),
        ])
      ),
      ("locations", .array([location(entry)])),
    ]
    let related = entry.related
    if !related.isEmpty {
      fields.append(
        (
          "relatedLocations",
          .array(
            related.enumerated().map { index, note in
              .object([
                ("id", .integer(Int64(index + 1))), ("message", Self.message(PlainText.escaped(note.text))),
                ("physicalLocation", Self.physical(note.place)),
              ])
            })
        ))
    }
    fields.append(("partialFingerprints", .object([("leaktrace/v1", .string(finding.fingerprint))])))
    if let state = Self.state(entry.judged.standing) { fields.append(("baselineState", .string(state))) }
    if let reason = Self.suppression(entry.judged.standing) {
      fields.append(
        ("suppressions", .array([.object([("kind", .string("external")), ("justification", .string(reason))])])))
    }
    fields.append(
      (
        "properties",
        .object([
          ("instances", .integer(Int64(finding.instances))), ("retainedBytes", .number(finding.retainedBytes.rawValue)),
          ("retainedObjects", .number(finding.retainedBlocks)), ("isFailing", .bool(entry.judged.isFailing)),
        ])
      ))
    return .object(fields)
  }

  private static func state(_ standing: JudgedFinding.Standing) -> String? {
    switch standing {
    case .new: "new"
    case .worse: "updated"
    case .known: "unchanged"
    // Hidden and library findings are not compared with known findings.
    case .hidden, .library: nil
    }
  }

  /// Returns the reason why a finding needs no attention; nil if the finding needs attention. Also nil for a known
  /// finding without a reason, because such a finding was never accepted.
  private static func suppression(_ standing: JudgedFinding.Standing) -> String? {
    switch standing {
    case .hidden(let pattern): "hidden by the suppression leak:\(pattern)"
    case .known(let reason): reason.isEmpty ? nil : reason
    case .new, .worse, .library: nil
    }
  }

  // MARK: Locations

  /// Returns a line of the source tree. A finding without a line gets the program's file, because code scanning refuses
  /// results without a file.
  private func location(_ entry: FindingDocument.Entry) -> JSONValue {
    var fields: [(String, JSONValue)] = []
    if let note = entry.notes.first {
      fields.append(("physicalLocation", Self.physical(note.place)))
      fields.append(("message", Self.message(PlainText.escaped(note.text))))
    } else {
      fields.append(("physicalLocation", .object([("artifactLocation", programLocation)])))
    }
    if let function = Self.function(entry.finding) {
      fields.append(
        (
          "logicalLocations",
          .array([.object([("fullyQualifiedName", .string(function)), ("kind", .string("function"))])])
        ))
    }
    return .object(fields)
  }

  private var programLocation: JSONValue {
    let program = document.program
    guard program.hasPrefix("/") else { return .object([("uri", .string(Self.encoded(document.programName)))]) }
    if let relative = document.programPathInTree {
      return .object([("uri", .string(Self.encoded(relative))), ("uriBaseId", .string(Self.base))])
    }
    return .object([("uri", .string("file://" + Self.encoded(program)))])
  }

  private static func physical(_ place: SourcePlace) -> JSONValue {
    .object([
      ("artifactLocation", .object([("uri", .string(encoded(place.path))), ("uriBaseId", .string(base))])),
      ("region", .object([("startLine", .integer(Int64(place.line)))])),
    ])
  }

  private static func function(_ finding: Finding) -> String? {
    var frames = finding.path.map { $0.kind == .closure ? $0.function : $0.place }
    if case .dangling(let ending?) = finding.evidence { frames += [ending.used?.frame, ending.freed.frame] }
    return frames.compactMap { $0?.fullFunction }.first { !$0.isEmpty }
  }

  // MARK: Text

  /// Returns a path as a URI: percent-encodes its UTF-8 bytes, except for unreserved characters and slashes.
  static func encoded(_ path: String) -> String {
    var result = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  /// Escapes a message. Unescaped, braces would be placeholders, and `](` would end a link's text.
  static func escaped(_ text: String) -> String {
    text.replacing("{", with: "{{").replacing("}", with: "}}").replacing("](", with: "\\](")
  }

  private static func message(_ text: String) -> JSONValue { .object([("text", .string(escaped(text)))]) }
}
