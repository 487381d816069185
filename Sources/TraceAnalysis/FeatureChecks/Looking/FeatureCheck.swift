// A check: looks, tries and judges.

import HeapAnalysis
import ProcessInspection
import TraceReading
import TraceRecording

/// Finds which features work here, or for a process.
package enum FeatureCheck {
  /// Looks at this system and, if one is named, at a process. Tries what can be tried without harm.
  ///
  /// Starts small programs, writes to `surroundings.traceDirectory` and to the temporary directory, and leaves nothing
  /// there. Neither stops the process nor writes to it. Takes some tenths of a second.
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
      // As an analysis does, but that the process's own runtime is the one that is mapped.
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

/// Files that a process has mapped.
enum ProcessFiles {
  /// Paths as the process knows them; empty if they cannot be read.
  static func paths(of process: Int32) -> [String] {
    let lines = String(decoding: ProcFile.bytes("/proc/\(process)/maps", upTo: 64 << 20), as: UTF8.self)
      .split(separator: "\n")
    return Array(Set(lines.compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } })).sorted()
  }
}
