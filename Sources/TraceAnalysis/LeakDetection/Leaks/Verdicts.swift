// Judges a heap, before any names are looked up.

import HeapAnalysis
import TraceReading

/// Determines which objects of a model should be gone. This is the second step from a trace to findings:
/// `NamedFindings` names the objects.
struct Verdicts {
  let model: HeapModel
  /// The unreachable objects.
  let finder: LeakFinder

  /// Searches for unreachable memory. Linear in the graph.
  init(_ model: HeapModel, codeFacts: CodeFacts) {
    self.model = model
    let ended = model.endedExecutions
    let abandoned = AbandonedValues(
      graph: model.graph, sites: model.trace.sites, stacks: model.trace.definitions.stacks,
      activations: model.activations, isProgramFunction: { codeFacts.isProgramFunction($0) },
      isLive: { !ended.contains($0) })
    finder = LeakFinder(
      model.graph, isListed: model.isListed, isImageAlone: model.trace.header.lacksHistory, abandoned: abandoned.nodes)
  }

  /// Returns the groups of leaked objects. If something still refers to an object that has ended, or used it after its
  /// end, the group has that end. `remark`: the reason why these ends are uncertain. Reads the events once more if
  /// references dangle, or if objects seem to have been used after their end.
  func groups(in reader: TraceReader) -> (groups: [LeakGroup], remark: String?) {
    EndedObjects.groups(of: finder, in: reader, suspects: model.trace.suspects, gaps: model.trace.gaps)
  }

  /// True if the trace has a history for conclusions. A single heap image has none.
  var hasHistory: Bool { !model.trace.header.lacksHistory }

  /// Returns the leaked blocks by allocation site; nil if the heap image lacks parts. Linear in the blocks.
  func leakedBySite() -> [SiteID: BlockSum]? {
    guard let leaked = finder.leaked else { return nil }
    var sums: [SiteID: BlockSum] = [:]
    leaked.forEach { node in
      let block = model.graph.heap[BlockID(node)]
      sums[block.site, default: BlockSum()].add(block.size)
    }
    return sums
  }
}
