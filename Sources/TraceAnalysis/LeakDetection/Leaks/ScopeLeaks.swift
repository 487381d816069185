// Finds the leaks of one scope.

extension LeakAnalysis {
  /// Returns the findings with an instance that has an object in `births`, and counts only such instances. `births`:
  /// times of birth by address. Searches the graph again.
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
