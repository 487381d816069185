// A check: collects facts and makes attempts.

import HeapAnalysis
import ProcessInspection
import TraceReading
import TraceRecording

/// Collects the facts about which features work here, or for a process.
package enum FeatureCheck {
  /// Examines this system and, if one is named, a process. Attempts everything that does no harm.
  ///
  /// Starts small programs. Writes to `surroundings.traceDirectory` and to the temporary directory, and leaves no files
  /// there. Does not stop the process or write to it. Takes a few tenths of a second.
  ///
  /// - Throws: `InspectionError.noSuchProcess`.
  package static func facts(
    for features: [Feature], process: Int32?, _ surroundings: CheckSurroundings
  ) throws(InspectionError) -> CheckedFacts {
    var facts = CheckedFacts(machine: MachineFacts(surroundings))
    facts.installation.output = DirectoryFacts(looking: surroundings.traceDirectory)
    if let process {
      facts.target = try TargetFacts(looking: process, facts.machine, surroundings, trials: &facts.trials)
    }
    var library: PreloadLibrary?
    if features.contains(where: \.needsRecorder) {
      do throws(RecordingError) {
        library = try PreloadLibrary.find(
          in: PreloadLibrary.candidates(
            override: surroundings.libraryOverride, executablePath: surroundings.executablePath))
        facts.installation.recorder = library.map { .done($0.path) } ?? .notTried
      } catch { facts.installation.recorder = .failed(.recording(error)) }
    }
    if features.contains(.fieldNames) {
      // Search as an analysis does, with the mapped files in place of a trace's loaded images.
      let runtimes = (process.map { ProcessFiles.paths(of: $0) } ?? []).map {
        LoadedImage(path: $0, buildID: [], loadBias: 0, range: RuntimeAddress(0)..<RuntimeAddress(0))
      }
      facts.installation.mirror = FeatureTrials.mirror(
        RemoteMirrorLibrary.candidates(images: runtimes, path: surroundings.toolPath))
    }
    let trials = FeatureTrials(surroundings, library)
    let canWrite = facts.installation.output.writeError == 0
    if features.contains(.record), canWrite { facts.trials.record = trials.record(light: false) }
    if features.contains(.light), canWrite { facts.trials.light = trials.record(light: true) }
    guard process == nil else { return facts }
    if features.contains(.snapshot), canWrite { facts.trials.snapshot = trials.snapshot() }
    if features.contains(.attach), canWrite { facts.trials.attach = trials.attach() }
    if features.contains(.inspect) || features.contains(.watch) { facts.trials.inspect = trials.inspect() }
    return facts
  }
}

/// The files that a process has mapped.
enum ProcessFiles {
  /// Returns the files' paths as the process knows them; empty if they cannot be read.
  static func paths(of process: Int32) -> [String] {
    let lines = String(decoding: ProcFile.bytes("/proc/\(process)/maps", upTo: 64 << 20), as: UTF8.self)
      .split(separator: "\n")
    return Array(Set(lines.compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } })).sorted()
  }
}
