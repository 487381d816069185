// The limit of a short answer on the command line.

import ArgumentParser
import TraceAnalysis

/// The bytes that an answer in the format 'brief-json' may have.
struct AnswerSize: ExpressibleByArgument {
  var bytes: Int

  init(_ bytes: Int = BriefReport.usualSize) { self.bytes = bytes }

  init?(argument: String) {
    guard let bytes = Int(argument), BriefReport.sizes.contains(bytes) else { return nil }
    self.bytes = bytes
  }

  var defaultValueDescription: String { "\(bytes)" }

  static let help = ArgumentHelp(
    "With brief-json: limit of the answer, from \(BriefReport.sizes.lowerBound) to \(BriefReport.sizes.upperBound) bytes.",
    valueName: "bytes")
}
