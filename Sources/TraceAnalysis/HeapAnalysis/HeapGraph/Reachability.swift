// Finds the nodes that roots reach.

extension HeapGraph {
  /// Returns the roots and all nodes that they reach. The search follows edges of some kinds through nodes of `subset`;
  /// nil means all nodes. Skips roots outside `subset`. Traps if a root is not a node of the graph. O(nodes / 64 +
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
