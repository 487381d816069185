// Explains why objects are alive: paths from roots.

import HeapAnalysis
import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// The beginning of a path.
package struct PathOrigin: Codable, Hashable, Sendable {
  package enum Kind: Codable, Hashable, Sendable {
    case global, stack, registers, threadLocal, mapping
    /// No root leads to the objects. The path begins at a leaked object.
    case leaked
  }

  package var kind: Kind
  /// For example, `static Cache.all in App` or `stack of thread 4711, in nanosleep`.
  package var name: String
}

/// One way that keeps objects alive, shown for one of the objects.
package struct RetainedGroup: Sendable {
  package var origin: PathOrigin
  /// The path from the first object to the shown object. The shown object is the nearest requested object; in a chain,
  /// it is the second one.
  package var path: [Finding.Step]
  /// The number of objects that are held in this way.
  package var instances: Int
  /// The memory that would be freed with these objects.
  package var retainedBytes: ByteCount
  /// The number of blocks on the path to the farthest object. It exceeds the length of the shown path if objects of one
  /// kind hold each other.
  package var longestPath: Int
  /// The addresses of the first `addressLimit` objects, in order of allocation.
  package var addresses: [RuntimeAddress]

  /// Maximum number of addresses in a group. A way may have millions of objects, and longer lists of addresses are of
  /// no use.
  static let addressLimit = 1000
}

/// The answer to `why`: the ways that keep the requested objects alive.
package struct RetainAnswer: Sendable {
  /// The ways with most instances, up to the requested number.
  package var groups: [RetainedGroup]
  /// The number of all ways, including those that are not in `groups`.
  package var ways: Int
  /// The number of objects that match the query.
  package var matches: Int
}

extension RetainAnswer {
  /// Returns a shown type whose name contains a query's name. Nil if a shown object has a type with exactly that name,
  /// if not all ways are shown, and for patterns and addresses.
  package func otherType(than name: String) -> String? {
    guard groups.count == ways, !name.contains("*"), !name.contains("?"), !name.hasPrefix("0x") else { return nil }
    let types = groups.compactMap(\.path.last)
    guard let first = types.first else { return nil }
    let isThere = types.contains { step in
      [step.type, step.qualifiedType].contains { $0 == name || $0.hasPrefix(name + "<") || $0.hasSuffix("." + name) }
    }
    return isThere ? nil : first.type
  }
}

extension LeakAnalysis {
  /// Returns the ways that keep the objects of a query alive, in descending order of instances. O(graph) for the first
  /// call, and look-ups of the shown names.
  package func explain(_ query: RetainQuery, limit: Int) -> RetainAnswer {
    let names = self.names()
    let targets = nodes(query, names)
    guard !targets.isEmpty else { return RetainAnswer(groups: [], ways: 0, matches: 0) }
    let heap = graph.graph
    let roots = graph.rootNodes
    let rootCosts = roots.map { Self.rootCost(graph.root($0).kind) }
    let paths = RetainPaths(
      heap, roots: roots, rootCosts: rootCosts, kinds: ObjectGraph.owning, costs: LeakFinder.costs)
    let isAnyLeaked = targets.contains { !paths.reaches($0) }
    let leaked = isAnyLeaked ? leakedPaths() : nil
    let dominators = DominatorTree(heap, roots: roots + (leaked?.heads ?? []), kinds: ObjectGraph.owning)
    var sizes = [UInt64](repeating: 0, count: heap.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    var ways = HeldWays(reachable: PathShapes(graph, paths), leaked: leaked.map { PathShapes(graph, $0.paths) })
    for target in targets {
      let isLeaked = !paths.reaches(target)
      guard let own = isLeaked ? leaked?.paths : paths, own.reaches(target) else { continue }
      ways.add(target, isLeaked: isLeaked, cost: own.costs[target], birth: graph.birthOrder(of: target))
    }
    ways.joinChains()
    ways.add(retained: dominators.retainedSizes(sizes), dominators)
    let found = ways.sorted()
    let namedPaths = FindingPaths(graph, naming: names)
    let groups = found.prefix(limit).compactMap { entry -> RetainedGroup? in
      guard let path = (entry.isLeaked ? leaked?.paths : paths)?.path(to: entry.shown) else { return nil }
      var steps: [LeakGroup.Step] = graph.isRoot(path.root) ? [] : [.init(node: path.root, edge: nil)]
      for step in path.steps {
        if !steps.isEmpty { steps[steps.count - 1].edge = step.edge }
        steps.append(.init(node: step.node, edge: nil))
      }
      let origin =
        graph.isRoot(path.root)
        ? names.origin(path.root, target: path.steps.first?.node)
        : PathOrigin(kind: .leaked, name: reasonForNoRoot(path.root))
      let named = namedPaths.path(steps)
      let first = entry.targets.sorted { graph.birthOrder(of: $0) < graph.birthOrder(of: $1) }.prefix(
        RetainedGroup.addressLimit)
      return RetainedGroup(
        origin: origin, path: named, instances: entry.targets.count, retainedBytes: ByteCount(entry.retained),
        longestPath: max(Int(entry.longest), steps.count),
        addresses: first.map { RuntimeAddress(graph.heap[BlockID($0)].address) })
    }
    return RetainAnswer(groups: groups, ways: found.count, matches: targets.count)
  }

  /// Returns the reason why a path begins at no root.
  private func reasonForNoRoot(_ head: NodeID) -> String {
    if finder.abandoned.contains(head) { return "nothing: the function that made it never returns" }
    return graph.isWhole ? "nothing: it is leaked, or only a leak holds it" : "nothing that the incomplete image shows"
  }

  /// Returns the initial cost of a path from a root of a kind. Among several paths, the path from a root with a
  /// well-known name is shown.
  static func rootCost(_ kind: HeapRoot.Kind) -> UInt8 {
    switch kind {
    case .global: 0
    case .threadLocal: 4
    // Words on stacks are often stale. A longer path from a root with a name says more.
    case .stack: 60
    case .registers: 64
    case .mapping: 80
    case .unseen: 120
    }
  }

  /// Returns a key that is equal for roots that hold objects in the same way.
  static func rootKey(_ kind: HeapRoot.Kind) -> UInt64 {
    switch kind {
    case .global(let image): UInt64(image) << 8
    case .stack: 1
    case .registers: 2
    case .threadLocal: 3
    case .mapping: 4
    case .unseen: 5
    }
  }

  /// Returns the nodes where leaks begin: values that functions abandoned, and unreachable nodes that no other
  /// unreachable nodes lead to.
  func leakHeads() -> [NodeID] {
    let components = StronglyConnectedComponents(graph.graph, kinds: ObjectGraph.keeping, within: finder.unreachable)
    let members = ComponentMembers(components)
    return finder.abandoned + components.sources().members.map { members.node(0, of: $0) }
  }

  /// Returns the paths to unreachable nodes, from the nodes where leaks begin.
  private func leakedPaths() -> (paths: RetainPaths, heads: [NodeID]) {
    let heads = leakHeads()
    let within = NodeSet(bound: graph.graph.nodeCount)
    finder.unreachable.forEach { within.insert($0) }
    graph.graph.reachable(from: finder.abandoned, kinds: ObjectGraph.owning).forEach { within.insert($0) }
    return (
      RetainPaths(graph.graph, roots: heads, kinds: ObjectGraph.keeping, costs: LeakFinder.costs, within: within), heads
    )
  }

  private func nodes(_ query: RetainQuery, _ names: FindingNaming) -> [NodeID] {
    switch query {
    case .address(let address): return graph.heap.block(containing: address.rawValue).map { [$0.rawValue] } ?? []
    case .type(let pattern):
      // If the given name is exactly the name of a type, the query means only this type. Otherwise, it means all types
      // whose names match the pattern.
      let exact = graph.types.map { pattern.isExactly($0.name) || pattern.isExactly($0.qualifiedName) }
      let matching =
        exact.contains(true) ? exact : graph.types.map { pattern.matches($0.name) || pattern.matches($0.qualifiedName) }
      return (0..<NodeID(graph.blockCount)).filter { matching[Int(graph.nodeTypes[Int($0)])] }
    case .site(let pattern):
      let search = StackSearch(model.trace.definitions.stacks) { frame in
        names.frames(for: frame).contains { pattern.matches($0.function) || pattern.matches($0.fullFunction) }
      }
      return (0..<NodeID(graph.blockCount)).filter { search.contains(names.stack(of: $0)) }
    }
  }
}

extension FindingNaming {
  /// Returns the origin of paths from a root. The origin's name describes the part of the root that holds `target`, if
  /// that part is known.
  func origin(_ root: NodeID, target: NodeID?) -> PathOrigin {
    let found = graph.root(root)
    let block = target.map { graph.heap[BlockID($0)] }
    /// The address of the reference in the root.
    var place: UInt64?
    if let block {
      for range in found.ranges where place == nil {
        graph.image.forEachWord(in: range) { address, value in
          let pointer = value & HeapImage.addressBits
          if place == nil, pointer >= block.address, pointer < block.address + max(block.size, 1) { place = address }
        }
      }
    }
    switch found.kind {
    case .global(let index):
      let image = graph.roots.images[index]
      let name = fileName(ofPath: image.path)
      if let place, let variable = variable(at: place, in: image) {
        let known =
          SystemCode.isSystemImage(image.path)
          ? Self.knownVariables.statement(for: variable) : nil
        return PathOrigin(
          kind: .global, name: known.map { "\($0) (\(variable) in \(name))" } ?? "\(variable) in \(name)")
      }
      return PathOrigin(kind: .global, name: "a variable of \(name)")
    case .stack(let thread):
      return PathOrigin(kind: .stack, name: "the stack of \(self.thread(thread, holding: place))")
    case .registers(let thread): return PathOrigin(kind: .registers, name: "a register of \(self.thread(thread))")
    case .threadLocal(let thread):
      return PathOrigin(kind: .threadLocal, name: "thread-local memory of \(self.thread(thread))")
    case .unseen:
      return PathOrigin(
        kind: .mapping, name: "memory that was allocated, or may have been, while calls were not recorded")
    case .mapping:
      return PathOrigin(
        kind: .mapping,
        name: "memory that was mapped without malloc\(place.map { ", at \(Hexadecimal.text($0))" } ?? "")")
    }
  }

  /// Variables of the platform's libraries that are better known by another name.
  private static let knownVariables = RuleBook.shipped.table(.knownAs, by: .variable)

  /// - Parameter place: the address of the reference on the thread's stack; nil for the thread's registers.
  private func thread(_ index: Int, holding place: UInt64? = nil) -> String {
    let thread = graph.snapshot.threads[index]
    let name = threads?.name(ofThread: UInt64(thread.osThread)) ?? "thread \(thread.osThread)"
    if let stack = definitions.threadStacks[UInt64(thread.osThread)], !stack.frames.isEmpty {
      return "\(name), in \(functions(stack, from: place.flatMap(stack.frame(holding:)) ?? 0))"
    }
    return name + (function(at: thread.instructionPointer).map { ", in \($0.function)" } ?? "")
  }

  /// Returns the function of a frame: `Server.handle() at Server.swift:40`. If the function is not the program's, adds
  /// the nearest caller that is.
  private func functions(_ stack: ThreadStack, from frame: Int) -> String {
    var first: SourceFrame?
    for frame in stack.frames[frame...].prefix(Self.callerLimit) {
      let functions = naming.frames(for: frame.key, in: graph.roots.image(at: frame.key.lookupAddress))
      if let own = functions.first(where: { $0.kind == .user && $0.isNamed }) {
        let position = own.file.map { " at \(fileName(ofPath: $0))\(own.line.map { ":\($0)" } ?? "")" } ?? ""
        return (first.map { "\($0.function), called by " } ?? "") + own.function + position
      }
      if first == nil { first = functions.first }
    }
    return first?.function ?? "code without a name"
  }

  /// Maximum number of frames searched for the program's function. The program's frame is farther out only if it called
  /// a library that recurses.
  private static let callerLimit = 64
}
