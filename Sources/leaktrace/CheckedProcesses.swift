// Chooses the processes of a run that are judged, with the reasons for leaving out the others.

import Foundation
import TraceAnalysis

/// Chooses by program: those that were named, or all but the toolchain's and the system's.
struct CheckedProcesses {
  /// Patterns for programs' names; none for the usual choice.
  var names: [NamePattern]
  /// Judge only what a package manager runs as tests.
  var isTestRun: Bool
  /// Only the program itself was recorded, and is meant whatever it is.
  var choosesAll: Bool

  /// Traces to judge, and the programs left out: path and reason.
  func choose(_ traces: [RecordedTrace]) -> (judged: [RecordedTrace], leftOut: [String: String]) {
    var judged: [RecordedTrace] = []
    var leftOut: [String: String] = [:]
    for trace in traces {
      // A trace that cannot be read is judged, so that it fails.
      guard let reader = try? TraceReader(path: trace.path) else {
        judged.append(trace)
        continue
      }
      // The process went on as another program, which has its own trace.
      if reader.closing?.reason == .exec { continue }
      let program = reader.definitions.process.executable
      if let reason = reasonToLeaveOut(program, images: reader.definitions.images.map(\.image.path)) {
        leftOut[program] = reason
      } else {
        judged.append(trace)
      }
    }
    // A program that is installed where the system's are is meant, if it was run by itself.
    if judged.isEmpty, traces.count == 1, names.isEmpty, !isTestRun { return (traces, [:]) }
    return (judged, leftOut)
  }

  private func reasonToLeaveOut(_ program: String, images: [String]) -> String? {
    let name = program.split(separator: "/").last.map(String.init) ?? program
    if choosesAll { return nil }
    if !names.isEmpty { return names.contains { $0.matches(name) } ? nil : "not among --only" }
    if Self.isOfToolchain(program) { return "of the toolchain" }
    if isTestRun, !name.hasSuffix(".xctest") { return "no test bundle" }
    if images.contains(where: { $0.hasSuffix("/libPackageDescription.so") }) { return "a package manifest" }
    if Self.isOfSystem(program) { return "of the system" }
    return nil
  }

  /// Beside a Swift compiler, or in the directories that toolchains keep for themselves.
  static func isOfToolchain(_ path: String) -> Bool {
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    for path in [path, resolved] {
      guard let slash = path.lastIndex(of: "/") else { continue }
      if FileManager.default.isExecutableFile(atPath: path[..<slash] + "/swift-frontend") { return true }
      for inner in ["/libexec/swift/", "/lib/swift/"] {
        if let range = path.range(of: inner),
          FileManager.default.isExecutableFile(atPath: path[..<range.lowerBound] + "/bin/swift-frontend")
        {
          return true
        }
      }
    }
    return false
  }

  private static func isOfSystem(_ path: String) -> Bool {
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/libexec/", "/lib/", "/lib64/"].contains {
      path.hasPrefix($0)
    }
  }
}
