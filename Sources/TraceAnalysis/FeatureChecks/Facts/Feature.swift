// The features that a check reports.

/// A feature of leaktrace. It may work here, or for one process, or not. The raw value is the name on the command line
/// and in JSON.
package enum Feature: String, CaseIterable, Hashable, Sendable {
  case record, light, snapshot, attach, inspect, watch
  case coreFiles = "core-files"
  case fieldNames = "field-names"
  case sourceLines = "source-lines"

  /// The name in text reports.
  package var title: String {
    switch self {
    case .coreFiles: "core files"
    case .fieldNames: "field names"
    case .sourceLines: "source lines"
    default: rawValue
    }
  }

  /// True if the feature needs the right to trace another process.
  var needsTracing: Bool { [.attach, .inspect, .watch].contains(self) }
  /// True if the feature loads the recorder into a program.
  var needsRecorder: Bool { [.record, .light, .snapshot, .attach].contains(self) }
}
