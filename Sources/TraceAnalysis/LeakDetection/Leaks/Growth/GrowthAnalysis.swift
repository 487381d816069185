// Makes findings from the heap images of repeated work.

import TextWriting
import TraceReading

/// The growth that repetitions prove.
package struct GrowthReport: Sendable {
  package var findings: [Finding] = []
  /// Sentences about the repetitions that could not be judged, with the reasons.
  package var remarks: [String] = []
  package init() {}
}

extension LeakAnalysis {
  /// Returns the growth in each round of the trace's repetitions, from the heap images of the rounds. Reads the events
  /// once for all repetitions. Makes two graphs for each repetition. If something grows, makes a graph for each of its
  /// heap images.
  ///
  /// - Parameters:
  ///   - analysis: An analysis of the same trace, with any of its heap images.
  ///   - number: The only repetition to judge. Nil judges all repetitions, except those in tests, which judge
  ///     themselves.
  ///   - births: The times of birth of the blocks that may be reported, by address; nil for all blocks.
  ///   - open: Returns the analysis of a heap image. It is made from an allocation analysis with the heap image's live
  ///     blocks.
  package static func growth(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, repetition number: UInt64? = nil,
    among births: [UInt64: UInt64]? = nil,
    open: @escaping (_ snapshot: TraceSnapshot, _ analysis: AllocationAnalysis) -> LeakAnalysis
  ) -> GrowthReport {
    var report = GrowthReport()
    let repetitions = Repetition.all(in: reader, analysis.statements).filter { repetition in
      number.map { repetition.number == $0 } ?? (repetition.scope == 0)
    }
    for repetition in repetitions where !repetition.isJudged { report.remarks.append(Self.remark(repetition)) }
    let judged = repetitions.filter(\.isJudged)
    guard !judged.isEmpty else { return report }
    guard reader.mayReplay(times: 1) else {
      report.remarks += judged.map {
        "\(words($0)): there are too many events to read them twice from a stranger's file of this size, and growth was not judged"
      }
      return report
    }
    let blocks = RoundBlocks.collect(at: judged.flatMap { $0.images.map(\.time) }, in: reader)
    // Each graph contains all live blocks. For a trace that is not trusted, the size of the file limits their number.
    var spareBlocks = reader.limits.graphBlocks
    func look(_ image: TraceSnapshot) -> LeakAnalysis? {
      guard spareBlocks > 0 else { return nil }
      spareBlocks -= max(blocks.count, Self.minCost)
      var own = analysis
      own.blocksAtSnapshot = LiveBlockList(blocks.blocks(at: image.time))
      own.activationsAtSnapshot = .none
      let found = open(image, own)
      return found.graph.isWhole ? found : nil
    }
    for repetition in judged {
      func giveUp() {
        let reason =
          spareBlocks > 0
          ? "a round's heap image is damaged" : "there are too many heap images for a stranger's file of this size"
        report.remarks.append("\(Self.words(repetition)): \(reason), and growth was not judged")
      }
      guard let lastImage = repetition.images.last, let last = look(lastImage) else {
        giveUp()
        continue
      }
      let scene = GrowthScene(
        last: last.graph.heap, base: repetition.images[Repetition.warmUpRounds - 1].time, sites: analysis.sites,
        definitions: analysis.definitions)
      let tree = HolderTree(last.graph, scene)
      let wanted = births.map { births in { (block: LiveBlock) in births[block.address] == block.birthTime } }
      let finder = GrowthFinder(
        images: repetition.images, scene: scene, last: tree, open: { look($0)?.graph }, wanted: wanted)
      guard let groups = finder.groups() else {
        giveUp()
        continue
      }
      if !groups.isEmpty {
        report.findings += GrowthBuilder(last.verdicts, naming: last.names(), tree, repetition).findings(groups)
      }
    }
    return report
  }

  /// Minimum cost of a graph, in blocks. Even for a graph with few blocks, the heap image must be read.
  private static let minCost = 1 << 14

  private static func words(_ repetition: Repetition) -> String {
    repetition.place.name.isEmpty && repetition.place.file.isEmpty
      ? "rounds marked from outside" : "repetition \"\(PlainText.escaped(repetition.place.name))\""
  }

  private static func remark(_ repetition: Repetition) -> String {
    let count = repetition.images.count
    return
      "\(words(repetition)): \(Decimal.counted(UInt64(count), "round")) with a heap image; growth is judged from \(Repetition.minRounds) on"
  }
}
