// All searches in one trace: for leaks in an image, for violated expectations, and for growth.

import HeapAnalysis
import LeakDetection
import LeakGates
import TraceReading
import TraceSymbolication

extension LeakReport {
  /// Searches a heap image of `reader` for leaks, and adds problems of the image to the diagnostics of `allocations`.
  ///
  /// `access`: reads symbol files; nil to read them from this machine and the trace. `openFiles`: symbol files that
  /// were opened before with the same `files`. `toolPath`: directories that may contain a Swift toolchain, as in PATH.
  /// `ownModules`: Swift modules that are the program's own code. `explains`: whether the report has the candidates for
  /// a suspicion. `inspect`: receives the analysis of the image.
  package init(
    _ reader: TraceReader, _ allocations: inout AllocationAnalysis, snapshot: TraceSnapshot, files: DebugFileSearch,
    access: (any SymbolFileAccess)? = nil, openFiles: OpenImageFiles = OpenImageFiles(), toolPath: String,
    ownModules: Set<String>,
    suppressions: Suppressions = Suppressions(), explains: Bool = false, inspect: (LeakAnalysis) -> Void = { _ in }
  ) {
    let symbolicator = Symbolicator(of: [allocations], search: files, access: access, openFiles: openFiles)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: snapshot, search: files, access: access, toolPath: toolPath,
      ownModules: ownModules, naming: symbolicator)
    let atExpectations = ExpectationImages(reader, allocations) { snapshot in
      LeakAnalysis(
        reader, AllocationAnalysis(reader, snapshot: snapshot), snapshot: snapshot, search: files, access: access,
        toolPath: toolPath, ownModules: ownModules, naming: symbolicator)
    }
    let growth = LeakAnalysis.growth(reader, allocations) { snapshot, allocations in
      LeakAnalysis(
        reader, allocations, snapshot: snapshot, search: files, access: access, toolPath: toolPath,
        ownModules: ownModules, naming: symbolicator)
    }
    let earlier = EarlierHeap(
      reader, allocations, exit: snapshot, lastOrdinal: allocations.activationsAtSnapshot.ordinal
    ).map { heap in
      var before = AllocationAnalysis(reader, snapshot: heap.snapshot)
      heap.restrict(&before)
      return LeakAnalysis(
        reader, before, snapshot: heap.snapshot, search: files, access: access, toolPath: toolPath,
        ownModules: ownModules, naming: symbolicator, earlier: heap)
    }
    for diagnostic in analysis.model.diagnostics.first { allocations.diagnostics.append(diagnostic) }
    self.init(analysis, suppressions: suppressions, atExpectations: atExpectations, growth: growth, earlier: earlier)
    if explains { candidates = analysis.suspicionAccounts() + (earlier?.suspicionAccounts() ?? []) }
    inspect(analysis)
  }
}
