// The judgement of a heap, in numbers.

import HeapAnalysis
import TraceReading

/// Says which objects of a model should be gone. The second step from a trace to findings: `NamedFindings` names them.
struct Verdicts {
  let model: HeapModel
  /// The objects that nothing reaches.
  let finder: LeakFinder

  /// Looks for memory that nothing reaches. Linear in the graph.
  init(_ model: HeapModel, codeFacts: CodeFacts) {
    self.model = model
    let ended = model.endedStrands
    let abandoned = AbandonedValues(
      graph: model.graph, sites: model.trace.sites, stacks: model.trace.definitions.stacks,
      activations: model.activations, isProgramFunction: { codeFacts.isProgramFunction($0) },
      isLive: { !ended.contains($0) })
    finder = LeakFinder(
      model.graph, isListed: model.isListed, isImageAlone: model.trace.header.lacksHistory, abandoned: abandoned.nodes)
  }

  /// The groups of leaked objects, with the ends of those that something still refers to or used. `remark`: a limit
  /// on the knowledge of ends. Reads the events once more, if references dangle or objects seem used after their end.
  func groups(in reader: TraceReader) -> (groups: [LeakGroup], remark: String?) {
    EndedObjects.groups(of: finder, in: reader, suspects: model.trace.suspects, gaps: model.trace.gaps)
  }

  /// One image has no history to conclude from.
  var hasHistory: Bool { !model.trace.header.lacksHistory }

  /// The blocks that leak, by allocation site; nil if the image lacks parts. Linear in the blocks.
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
