// Describes how gaps in the trace limit an analysis, and names remedies.

import Glibc
import HeapAnalysis
import TextWriting
import TraceReading

/// The limits of one analysis, in sentences.
struct HeapRemarks {
  private let model: HeapModel
  private let finder: LeakFinder
  private var graph: ObjectGraph { model.graph }
  private var snapshot: TraceSnapshot { model.snapshot }

  init(_ verdicts: Verdicts) { (model, finder) = (verdicts.model, verdicts.finder) }

  /// Sentences that a reader needs to judge the findings.
  var all: [String] {
    var remarks: [String] = []
    if !graph.isWhole { remarks.append(incompleteness) }
    remarks += gapRemarks
    if !snapshot.isFrozen {
      remarks.append(
        "other threads could not be stopped for the heap image: references that moved may look lost, and stale words on stacks may hide leaks"
      )
    }
    if let problem = graph.reflectionProblem {
      remarks.append("fields have no names (\(problem)): every word that looks like a pointer counts as a reference")
    } else if !graph.scannedTypes.isEmpty {
      let names = graph.scannedTypes.prefix(3).map { graph.types[$0].name }.joined(separator: ", ")
      let more = graph.scannedTypes.count > 3 ? " and \(graph.scannedTypes.count - 3) more" : ""
      remarks.append("unknown fields in \(names)\(more): every word that looks like a pointer counts as a reference")
    }
    remarks += graph.runtimeRemarks
    return remarks
  }

  /// The reason why the heap image could not be analyzed completely; nil if it could. If only the threads of a forked
  /// process are unknown, its heap image is complete.
  var obstacle: String? {
    graph.isWhole || (model.lacksThreads && snapshot.isWhole) ? nil : incompleteness
  }

  /// The reason why the heap image is incomplete.
  private var incompleteness: String {
    let kinds = "retain cycles, lost objects and suspended tasks"
    let untold = "\(kinds) are not reported, since missing memory may hold them"
    if model.lacksThreads {
      return
        "another process forked this one while it had several threads, and objects of its other threads look lost; \(kinds) are not reported. Judge the process that forked it, or have it run a program (exec)"
    }
    if let limit = graph.image.exceededLimit {
      return
        "the heap image is incomplete: it needs more memory than the limit of \(Decimal.bytes(limit.rawValue)); \(untold). "
        + "Raise --memory-limit, or analyze the trace on a machine with more memory"
    }
    if graph.image.isWhole {
      return "the heap image is incomplete: it has more references than the analysis can hold; \(untold)"
    }
    if snapshot.reason == .inspection, snapshot.end?.error == ENODATA {
      return
        "the core file lacks memory of the process; \(untold). Have all of its private memory written: allow larger cores (ulimit -c), set bit 0 of /proc/PID/coredump_filter, and use gdb 18 rather than gdb 13"
    }
    let reason: String
    if snapshot.end == nil {
      reason = "it was not written to its end"
    } else if let code = snapshot.end?.error, code != 0 {
      reason = "the recorder could not write all of it (\(systemErrorText(code)))"
    } else {
      reason = "parts of it are damaged or missing"
    }
    return "the heap image is incomplete: \(reason); \(untold). Take another one, or choose one with --snapshot"
  }

  /// Sentences about the conclusions that missing calls rule out.
  private var gapRemarks: [String] {
    guard model.trace.gaps.hideAllocations else { return [] }
    var remarks = ["\(model.trace.gaps.explanation): anything that unseen memory may hold counts as in use"]
    let unknown = finder.unknownBlocks
    if unknown.count > 0 {
      remarks.append(
        "there is no verdict on \(Decimal.counted(UInt64(unknown.count), "block")) (\(Decimal.bytes(unknown.bytes))) that nothing seems to hold: "
          + "they may have been freed while calls were not recorded")
    }
    return remarks
  }
}

extension LeakFinder {
  /// Blocks that no known memory leads to, and that may have been freed without a record.
  var unknownBlocks: (count: Int, bytes: UInt64) {
    guard !graph.uncertain.isEmpty else { return (0, 0) }
    let known = graph.rootNodes.filter { graph.root($0).kind != .unseen }
    let reached = graph.graph.reachable(from: known, kinds: ObjectGraph.owning)
    var (count, bytes) = (0, UInt64(0))
    graph.uncertain.forEach { node in
      guard !reached.contains(node) else { return }
      count += 1
      bytes += graph.heap[BlockID(node)].size
    }
    return (count, bytes)
  }
}

extension ProgramStatements {
  /// Returns the program's statements without objects that may have ended without a record. Also removes objects from
  /// scopes that they do not belong to.
  func without(_ graph: ObjectGraph, isOfNoScope: (LiveBlock) -> Bool) -> ProgramStatements {
    func isUncertain(_ block: LiveBlock) -> Bool {
      guard let found = graph.heap.block(containing: block.address), graph.heap[found].ordinal == block.ordinal else {
        return false
      }
      return graph.uncertain.contains(found.rawValue)
    }
    var result = self
    for index in result.scopes.indices {
      let rest = result.scopes[index].rest.filter { !isUncertain($0.block) && !isOfNoScope($0.block) }
      let runs = Set(result.scopes[index].rest.map(\.run)).subtracting(rest.map(\.run))
      result.scopes[index].executionsWithRest -= min(result.scopes[index].executionsWithRest, UInt64(runs.count))
      result.scopes[index].rest = rest
    }
    for index in result.expectations.indices {
      let before = result.expectations[index].rest.count
      result.expectations[index].rest.removeAll { $0.end == nil && isUncertain($0.block) }
      let unknown = min(result.expectations[index].violated, UInt64(before - result.expectations[index].rest.count))
      result.expectations[index].violated -= unknown
      result.expectations[index].unknown += unknown
    }
    return result
  }
}
