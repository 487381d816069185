// The features that a check reports on.

/// A feature of leaktrace that may work here, or for one process, or not. The raw value is the name on the command line
/// and in JSON.
package enum Feature: String, CaseIterable, Hashable, Sendable {
  case record, light, snapshot, attach, inspect, watch
  case coreFiles = "core-files"
  case fieldNames = "field-names"
  case sourceLines = "source-lines"

  /// The name in text.
  package var title: String {
    switch self {
    case .coreFiles: "core files"
    case .fieldNames: "field names"
    case .sourceLines: "source lines"
    default: rawValue
    }
  }

  /// The feature needs the right to trace another process.
  package var needsTracing: Bool { [.attach, .inspect, .watch].contains(self) }
  /// The feature loads the recorder into a program.
  package var needsRecorder: Bool { [.record, .light, .snapshot, .attach].contains(self) }
}
