// Finds suspicions that need no history: objects whose registrations no code can end.

import HeapAnalysis

extension SurvivorFinder {
  /// Returns suspicions of objects of unknown birth that only registrations keep. Births are unknown in an inspection,
  /// a core file, a light recording, or a process that ran before the recorder attached. `isTaken`: survivors that
  /// belong elsewhere.
  ///
  /// One image does not show how long an object has lived. It does show an object whose own task goes on for ever and
  /// has no handle. It shows a timer that only the object can stop, or an observer without a token. It also shows the
  /// results in a task group that no code has read. Linear in the blocks and in the registrations' paths.
  func unseenRegistrations(isTaken: (NodeID) -> Bool) -> [Suspicion] {
    guard let isListed else { return [] }
    var families: [UInt32: Family] = [:]
    for node in 0..<NodeID(graph.blockCount) {
      guard isCandidate(node), !unreachable.contains(node), !isTaken(node), !hasHistory || isListed(block(node)),
        isProgramObject(node) || isPlainTask(node), hangsFromRegistration(node)
      else { continue }
      families[graph.nodeTypes[Int(node)], default: Family()].survivors.append(node)
    }
    return families.sorted { $0.key < $1.key }.map(\.value).filter { $0.survivors.count >= rules.minRegistered }
      .map { family in
        var family = family
        family.sites = Set(family.survivors.map { block($0).site.rawValue }).sorted()
        log?.begin(family)
        log?.end(isSuspected: true)
        var suspicion = Suspicion(
          verdict: .outlived, family: family, needsRegistration: true, ownKinds: Self.endable,
          least: rules.minRegistered, evidence: Evidence(rules))
        suspicion.candidate = log?.current
        return suspicion
      }
  }

  /// The kinds of registrations whose possible end an image shows.
  private static let endable: Set<Finding.Registration> = [.task, .timer, .dispatchSource, .observer, .taskGroup]
  /// Maximum number of nodes between a registration and the object that it keeps.
  private static let registrationDistance = 32

  /// Returns whether a task keeps no object of the program. A finding names other tasks by their objects.
  private func isPlainTask(_ node: NodeID) -> Bool {
    graph.type(of: node).kind == .task
      && !graph.graph.edges(from: node).contains {
        let target = graph.graph.target(of: $0)
        return !graph.isRoot(target) && isProgramObject(target)
      }
  }

  /// Returns whether a registration keeps a node, without another object of the program in between.
  private func hangsFromRegistration(_ node: NodeID) -> Bool {
    var current = node
    for _ in 0..<Self.registrationDistance {
      let parent = ownership.paths.parents[current]
      guard parent != HeapGraph.noNode, !graph.isRoot(parent), !isProgramObject(parent) else { return false }
      if isRegistration(parent, current) { return true }
      current = parent
    }
    return false
  }
}
