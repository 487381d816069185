// Leaks of one scope.

extension LeakAnalysis {
  /// The findings that have instances with an object in `births`: addresses, with the time of birth. Counts only those
  /// instances. Searches again.
  package func findings(among births: [UInt64: UInt64]) -> [Finding] {
    let heap = graph.heap
    let finder = LeakFinder(graph) { block in births[heap[block].address] == heap[block].birthTime }
    let naming = names()
    let evidence = AdviceEvidence(naming)
    return FindingBuilder(finder, naming: naming).findings().map { finding in
      var finding = finding
      finding.advice = Advice.advice(for: finding, evidence)
      return finding
    }
  }
}
