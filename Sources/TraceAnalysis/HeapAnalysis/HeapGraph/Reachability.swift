// Nodes that can be reached.

extension HeapGraph {
  /// The nodes that can be reached from the roots, roots included, over edges of some kinds through nodes of `subset`
  /// alone; nil means all nodes. Roots outside `subset` are passed over; a root that is no node traps. O(nodes / 64 +
  /// nodes and edges reached).
  package func reachable(
    from roots: some Sequence<NodeID>, kinds: EdgeKinds = .all, within subset: NodeSet? = nil
  ) -> NodeSet {
    let reached = NodeSet(bound: nodeCount)
    let words = reached.words
    let scope = GraphScope(self, kinds: kinds, within: subset)
    var pending = GrowingStack<NodeID>()
    for root in roots where scope.admits(root) && NodeSet.insert(root, into: words) {
      pending.push(root)
      while !pending.isEmpty {
        let node = pending.pop()
        for edge in scope.edges(from: node) where scope.follows(edge) {
          let target = scope.targets[edge]
          if scope.contains(target) && NodeSet.insert(target, into: words) { pending.push(target) }
        }
      }
    }
    withExtendedLifetime((self, subset)) {}
    return reached
  }
}
