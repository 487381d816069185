// Turns the suspicions of a series of heap images into findings of the last heap image.

import HeapAnalysis
import TraceReading

extension LeakAnalysis {
  /// Maximum plausible count. Larger counts come from damaged data.
  private static let largestCount = 1e15

  /// Returns a finding for each suspect of a series. The newest heap image of the series must be the analysed one.
  /// `image`: the census of that heap image.
  package func findings(of growth: SeriesGrowth, _ image: ImageCensus) -> [Finding] {
    guard !growth.suspects.isEmpty else { return [] }
    let naming = names()
    let builder = SurvivorFindings(verdicts, naming: naming)
    let tree = RetainPathChoice(graph, builder.ownership)
    return growth.suspects.compactMap { row in
      guard let suspicion = row.suspicion, let example = image.examples[row.row.key],
        let path = tree.path(to: example.node), let figures = row.figures.last
      else { return nil }
      var steps: [LeakGroup.Step] = [.init(node: path.root, edge: nil)]
      for step in path.steps {
        steps[steps.count - 1].edge = step.edge
        steps.append(.init(node: step.node, edge: nil))
      }
      let holder = steps.firstIndex { $0.edge == example.entry } ?? max(0, steps.count - 2)
      // In a list of objects of one type, the holder refers to the first one.
      let type = graph.nodeTypes[Int(example.node)]
      let first =
        steps.indices.dropFirst(holder + 1).first { graph.nodeTypes[Int(steps[$0].node)] == type } ?? steps.count - 1
      let registration = builder.holders.registration(steps, after: holder)
      let isOfLibrary = registration == nil && row.row.holderKind == .library
      let origin = naming.origin(path.root, target: steps.dropFirst().first?.node).name
      let growth = Finding.ImageGrowth(
        images: suspicion.images, seconds: (suspicion.marks.last?.time ?? 0) - (suspicion.marks.first?.time ?? 0),
        lateShare: suspicion.lateShare, measure: row.row.kind.isCollection ? .elements : .objects,
        counts: suspicion.marks.map { Int(min($0.value, Self.largestCount)) },
        strength: suspicion.isStrong ? .strong : .weak)
      var finding = builder.finding(
        SurvivorGroup(
          verdict: .growing, survivors: [example.node], sample: example.node, path: steps,
          suspect: registration?.index ?? max(0, first - 1), lifetime: SiteLifetime(), sites: [], homeDistance: nil,
          evidence: .init(.standard), retainedBytes: figures.retainedBytes, retainedBlocks: row.row.objects),
        snapshot: graph.snapshot.number
      ) { retention, _ in
        var retention = retention
        if isOfLibrary {
          // Use the name that the platform's rules give, without the variable in parentheses.
          retention.holder = origin.contains(" (") ? String(origin.prefix { $0 != "(" }.dropLast()) : origin
        } else if registration == nil {
          retention.holder = row.row.key.holder
        }
        return .images(growth, retention)
      }
      finding.instances = Int(clamping: row.row.objects)
      finding.fingerprint = FindingIdentity(finding).fingerprint
      finding.advice =
        isOfLibrary
        ? [SurvivorAdvice.ofLibrary(finding, hasTimers: Registrations.timers.matches(origin))]
        : Advice.advice(for: finding)
      return finding
    }
  }
}

/// Finds the most informative path to an object: from a variable if there is such a path. For one thread at a time.
private struct RetainPathChoice {
  private let named: RetainPaths
  private let ownership: OwnershipTrees

  init(_ graph: ObjectGraph, _ ownership: OwnershipTrees) {
    let variables = graph.rootNodes.filter { if case .global = graph.root($0).kind { true } else { false } }
    named = RetainPaths(graph.graph, roots: variables, kinds: ObjectGraph.owning, costs: LeakFinder.costs)
    self.ownership = ownership
  }

  func path(to node: NodeID) -> RetainPath? { named.path(to: node) ?? ownership.paths.path(to: node) }
}
