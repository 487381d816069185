// Runs a program with and without `leaktrace record`, and keeps the outcomes of both runs.

import Foundation
import Testing
import TraceReading
import TraceRecording

/// The outcomes of one command, untraced and traced.
struct TracedRun: Sendable {
  var untraced: Command.Outcome
  /// The traced outcome. Its standard error lacks the recorder's own lines.
  var traced: Command.Outcome
  /// The lines that `record` printed despite `--quiet`.
  var recorderLines: [String]
  /// The traces, ordered by the start of their processes.
  var traces: [RecordedTrace]
  /// The directory of the traces. They are removed with this object.
  var directory: TemporaryDirectory

  /// - Parameter options: Options of `record`.
  /// - Parameter adjust: Sets the environment, directory and input of both runs.
  init(_ arguments: [String], options: [String] = [], adjust: (inout Command) -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    var command = Command(arguments)
    adjust(&command)
    untraced = try command.run()
    command.arguments = Self.recordArguments(directory, options: options) + arguments
    traced = try command.run()
    recorderLines = Self.separateRecorderLines(&traced)
    traces = try Self.traces(in: directory)
  }

  static func recordArguments(_ directory: TemporaryDirectory, options: [String] = []) -> [String] {
    [BuildProducts.leaktrace, "record", "--quiet", "--output", "\(directory.path)/%n.%p.trace"] + options + ["--"]
  }

  static func separateRecorderLines(_ outcome: inout Command.Outcome) -> [String] {
    let lines = outcome.errorOutput.split(separator: "\n", omittingEmptySubsequences: false)
    outcome.errorOutput = lines.filter { !$0.hasPrefix("leaktrace: ") }.joined(separator: "\n")
    return lines.filter { $0.hasPrefix("leaktrace: ") }.map(String.init)
  }

  static func traces(in directory: TemporaryDirectory) throws -> [RecordedTrace] {
    try directory.fileNames().filter { !$0.hasSuffix(".live") }
      .compactMap { RecordedTrace(path: "\(directory.path)/\($0)") }
      .sorted { ($0.startRealtime, $0.processID) < ($1.startRealtime, $1.processID) }
  }

  /// Returns the only trace. Expects that there is exactly one.
  func onlyTrace(sourceLocation: SourceLocation = #_sourceLocation) throws -> RecordedTrace {
    let files = try directory.fileNames()
    #expect(traces.count == 1, "\(files) \(recorderLines)", sourceLocation: sourceLocation)
    return try #require(traces.first, sourceLocation: sourceLocation)
  }

  /// Expects that both runs look the same from outside, and that the recorder printed no complaints.
  func expectSameBehaviour(
    normalising normalise: (String) -> String = { $0 }, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(!untraced.timedOut && !traced.timedOut, sourceLocation: sourceLocation)
    #expect(traced.end == untraced.end, sourceLocation: sourceLocation)
    #expect(normalise(traced.output) == normalise(untraced.output), sourceLocation: sourceLocation)
    #expect(normalise(traced.errorOutput) == normalise(untraced.errorOutput), sourceLocation: sourceLocation)
    #expect(recorderLines == [], sourceLocation: sourceLocation)
  }
}
