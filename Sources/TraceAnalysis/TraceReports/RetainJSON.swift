// Retain paths as JSON, as docs/report-schema.md describes them.

import LeakDetection
import TextWriting
import TraceReading

/// Renders the answer to `leaktrace why` as one JSON document. Formats only; makes no decisions.
package enum RetainJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  package static func text(_ answer: RetainAnswer, subject: String, snapshot: TraceSnapshot, remarks: [String])
    -> String
  {
    JSONValue.object([
      ("schema", .string("leaktrace.why")),
      ("schemaVersion", .number(schemaVersion)),
      ("subject", .string(subject)),
      ("snapshotNumber", .number(UInt64(snapshot.number))),
      ("objects", .number(UInt64(answer.matches))),
      ("wayCount", .number(UInt64(answer.ways))),
      ("ways", .array(answer.groups.map(value))),
      ("remarks", .array(remarks.map { .string($0) })),
    ]).text + "\n"
  }

  private static func value(_ group: RetainedGroup) -> JSONValue {
    .object([
      ("root", .object([("kind", .string(group.origin.kind.key)), ("name", .string(group.origin.name))])),
      ("objects", .number(UInt64(group.instances))),
      ("retainedBytes", .number(group.retainedBytes.rawValue)),
      ("longestPath", .number(UInt64(max(0, group.longestPath)))),
      ("path", .array(group.path.map(FindingJSON.value))),
      ("addresses", .array(group.addresses.map { .address($0.rawValue) })),
    ])
  }
}

extension PathOrigin.Kind {
  /// The name in JSON.
  var key: String {
    switch self {
    case .global: "global"
    case .stack: "stack"
    case .registers: "registers"
    case .threadLocal: "threadLocal"
    case .mapping: "mapping"
    case .leaked: "leaked"
    }
  }
}
