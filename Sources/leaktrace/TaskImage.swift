// A heap image whose tasks are listed.

import FoundationEssentials
import TraceAnalysis

/// The analysis of a heap image, and the allocations that it comes from.
struct TaskImage {
  let snapshot: TraceSnapshot
  let allocations: AllocationAnalysis
  let analysis: LeakAnalysis

  init(_ reader: TraceReader, _ snapshot: TraceSnapshot, files: DebugFileSearch, ownModules: Set<String>) {
    self.snapshot = snapshot
    allocations = ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: snapshot) }
    analysis = LeakAnalysis(
      reader, allocations, snapshot: snapshot, search: files,
      toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", ownModules: ownModules,
      // A list of tasks shows lines of the program only.
      naming: Symbolicator(of: [allocations], search: files, readsLinesOfPlatform: false))
  }
}
