// Names groups of leaked objects, joins those with one cause, and tells the program's from the libraries'.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Makes findings of what `LeakFinder` found. For one thread at a time.
package struct FindingBuilder {
  private let finder: LeakFinder
  private let groups: [LeakGroup]
  private let graph: ObjectGraph
  private let naming: FindingNaming
  private let closures: UnownedCaptures

  /// `groups`: those of `finder`, with what else is known of them.
  init(_ finder: LeakFinder, groups: [LeakGroup]? = nil, naming: FindingNaming) {
    self.finder = finder
    self.groups = groups ?? finder.groups
    graph = finder.graph
    self.naming = naming
    closures = UnownedCaptures(finder.graph, self.groups)
  }

  /// Findings of the program first, then those of libraries; in each the most retained bytes first.
  func findings() -> [Finding] {
    var join = FindingJoin()
    let owners = OwnerSearch(graph, naming: naming)
    /// By group of causes: the finding that it is a part of; `several` where its instances are in more than one.
    var joined: [Int32: Int32] = [:]
    for group in groups.flatMap(parts) {
      let owner = owners.owner(of: group)
      if case .runtime = owner { continue }
      var finding = finding(group)
      if case .library(let reason) = owner { finding.libraryReason = reason }
      let index = Int32(truncatingIfNeeded: join.add(finding))
      if let cause = group.cause {
        joined[cause] = joined[cause].map { $0 == index ? index : CauseShares.several } ?? index
      }
    }
    var findings = join.joined()
    if joined.count > Set(joined.values).count, !joined.values.contains(CauseShares.several), let causes = finder.causes
    {
      // Objects that hang from several groups, and from no other finding, go with them.
      for (index, sum) in causes.retained(joined: joined, graph.heap) where findings.indices.contains(Int(index)) {
        (findings[Int(index)].retainedBytes, findings[Int(index)].retainedBlocks) = (ByteCount(sum.bytes), sum.blocks)
      }
    }
    let evidence = AdviceEvidence(naming)
    for index in findings.indices { findings[index].advice = Advice.lines(for: findings[index], evidence) }
    return Self.sorted(findings)
  }

  /// Tasks that one place starts may wait for different things: a group for each, shown by the first of them.
  private func parts(of group: LeakGroup) -> [LeakGroup] {
    guard group.verdict == .suspended, !group.isCycle, group.members.count > 1, group.members.count <= Self.namedTasks
    else { return [group] }
    var order: [String] = []
    var parts: [String: [LeakGroup.Member]] = [:]
    for member in group.members.sorted(by: { graph.birthOrder(of: $0.node) < graph.birthOrder(of: $1.node) }) {
      let function = naming.suspension(of: member.node)?.function ?? ""
      if parts[function] == nil { order.append(function) }
      parts[function, default: []].append(member)
    }
    return order.compactMap { function in
      guard let members = parts[function], let first = members.first else { return nil }
      var part = group
      // Facts about the shown instance alone do not hold for another.
      if group.steps.first?.node != first.node { part.held = [:] }
      part.steps = [.init(node: first.node, edge: nil)]
      part.heldTogether = [:]
      part.members = members
      part.instances = members.count
      part.retainedBytes = members.reduce(0) { $0 &+ $1.bytes }
      part.retainedBlocks = members.reduce(0) { $0 &+ $1.blocks }
      return part
    }
  }

  /// Of more tasks than these from one place it is not asked where each waits.
  private static let namedTasks = 10_000

  /// The program's first; in each part those that retain most.
  package static func sorted(_ findings: [Finding]) -> [Finding] {
    findings.sorted {
      if $0.isLibrary != $1.isLibrary { return !$0.isLibrary }
      if $0.retainedBytes != $1.retainedBytes { return $0.retainedBytes > $1.retainedBytes }
      return ($0.instances, $0.fingerprint) > ($1.instances, $1.fingerprint)
    }
  }

  // MARK: One group

  private func finding(_ group: LeakGroup) -> Finding {
    var path = path(closures.withHolder(group))
    let ending = group.ended.map { naming.ending(of: $0) }
    if path.isEmpty, let ended = group.ended, let ending { path = [naming.step(ended, ending)] }
    // If tail calls left no function of the program's on the stack, the one that was asked for memory says most.
    if group.verdict == .lost, let first = group.steps.first?.node, !path.isEmpty, path[0].allocation == nil {
      path[0].allocation = naming.caller(of: first)
    }
    if let dangling = group.dangling, !path.isEmpty {
      let label = graph.label(dangling.label.rawValue)
      path[path.count - 1].reference = Finding.Reference(
        name: label?.name ?? "", strength: .unmanaged, isClosure: false, isCapture: false, capturesSelf: false,
        closure: nil, caseName: label?.caseName,
        referentType: DanglingReferents(graph, naming.definitions.types).declaredClass(dangling).map {
          TypeNames.unqualified($0)
        })
    }
    // The last on the path: of a lost object the only one, of a deinitialised one that behind its holder.
    let isCountTold = group.verdict == .lost || group.verdict == .deinitialised
    let counted =
      isCountTold ? group.steps.last.flatMap { graph.type(of: $0.node).kind.isCounted ? $0.node : nil } : nil
    let origins = naming.origins(of: instances(of: group))
    return Finding(
      verdict: group.verdict, libraryReason: nil, isCycle: group.isCycle, instances: group.instances,
      retainedBytes: ByteCount(group.retainedBytes),
      retainedBlocks: group.retainedBlocks, path: path, places: place(of: group, path).map { [$0] } ?? [],
      subject: subject(of: group, path), held: group.verdict == .dangling ? [] : held(by: group),
      isHeldByEach: group.isHeldByEach, heldTogether: group.heldTogether.isEmpty ? nil : named(group.heldTogether),
      referenceCount: counted.flatMap { graph.referenceCount(of: $0) }, ending: ending, advice: [], fingerprint: "",
      stacks: origins.stacks, tests: origins.tests)
  }

  /// The object that stands for each instance. The members of a cycle are any of its objects: of each, the nearest of
  /// the type that the path begins with.
  private func instances(of group: LeakGroup) -> [NodeID] {
    guard group.isCycle, let first = group.steps.first?.node, !graph.isRoot(first) else {
      return group.members.map(\.node)
    }
    let type = graph.nodeTypes[Int(first)]
    var spareVisits = Self.searchedInAll
    return group.members.map { member in
      var queue = [member.node]
      var seen: Set<NodeID> = [member.node]
      var next = 0
      while next < queue.count {
        if graph.nodeTypes[Int(queue[next])] == type { return queue[next] }
        for edge in graph.graph.edges(from: queue[next]) where queue.count < Self.searchedObjects && spareVisits > 0 {
          spareVisits -= 1
          let target = graph.graph.target(of: edge)
          if !graph.isRoot(target), ObjectGraph.keeping.rawValue >> graph.graph.kind(of: edge) & 1 != 0,
            seen.insert(target).inserted
          {
            queue.append(target)
          }
        }
        next += 1
      }
      return member.node
    }
  }

  /// Objects around one member of a cycle that are looked at for the one that the path begins with.
  private static let searchedObjects = 256
  /// References that are followed for all of a finding's instances.
  private static let searchedInAll = 1 << 22

  /// The subject of wrappers that leaked: an object that leaked with each.
  private func subject(of group: LeakGroup, _ path: [Finding.Step]) -> Finding.Subject? {
    guard group.verdict == .lost || group.verdict == .suspended || group.verdict == .retainCycle,
      let first = group.steps.first?.node, !graph.isRoot(first)
    else { return nil }
    if group.steps.contains(where: { naming.isOwn($0.node) }) { return nil }
    let sample = group.members.first { member in group.steps.contains { $0.node == member.node } }?.node ?? first
    return SubjectSearch(graph, naming: naming).subject(of: group.members.map(\.node), sample: sample) { object, _ in
      finder.unreachable.contains(object)
    }?.subject
  }

  /// All instances of a group come from the same places: that of the object which the finding is titled by is told.
  private func place(of group: LeakGroup, _ path: [Finding.Step]) -> Finding.Place? {
    guard let step = group.verdict == .deinitialised ? path.last : path.first, !group.members.isEmpty else {
      return nil
    }
    // The members of a cycle are any of its objects.
    let sizes = group.isCycle ? [step.size.rawValue] : group.members.map { graph.heap[BlockID($0.node)].size }
    return Finding.Place(
      allocation: step.allocation, ownAllocation: step.ownAllocation, stack: step.stack, instances: group.instances,
      retainedBytes: ByteCount(group.retainedBytes),
      retainedBlocks: group.retainedBlocks, smallest: ByteCount(sizes.min() ?? 0), largest: ByteCount(sizes.max() ?? 0))
  }

  /// Function values of one type passed as another go through a thunk with a context of its own, which nobody wrote:
  /// the reference that leads to it is taken to lead to what it calls.
  func path(_ steps: [LeakGroup.Step]) -> [Finding.Step] {
    var kept: [LeakGroup.Step] = []
    for (index, step) in steps.enumerated() {
      let before = index > 0 ? steps[index - 1] : steps[steps.count - 1]
      if steps.count > 1, index > 0, graph.type(of: step.node).kind == .closure, let incoming = before.edge,
        let beyond = step.edge,
        naming.isThunk(naming.closure(of: incoming, from: before.node))
      {
        thunkTargets[step.node] = beyond
        continue
      }
      kept.append(step)
    }
    guard kept.count > Self.shownSteps else { return name(kept) }
    // A long row is told by its ends.
    let tail = 8
    let left = kept.count - (Self.shownSteps - tail)
    var named = name(Array(kept[..<(Self.shownSteps - tail)] + kept[(kept.count - tail - 1)...]))
    named[Self.shownSteps - tail].omittedBefore = left - tail - 1
    return named
  }

  /// Steps of a path that are shown, at most.
  private static let shownSteps = 40

  /// By thunk context: the edge to what it calls.
  private let thunkTargets = ThunkTargets()
  private final class ThunkTargets {
    var edges: [NodeID: EdgeIndex] = [:]
    subscript(node: NodeID) -> EdgeIndex? {
      get { edges[node] }
      set { edges[node] = newValue }
    }
  }

  private func name(_ steps: [LeakGroup.Step]) -> [Finding.Step] {
    var result: [Finding.Step] = []
    var closures: [SourceFrame?] = Array(repeating: nil, count: steps.count)
    for (index, step) in steps.enumerated() {
      guard let edge = step.edge else { continue }
      closures[index] = closureBehindThunks(edge, from: step.node)
    }
    for (index, step) in steps.enumerated() {
      let type = graph.type(of: step.node)
      let block = graph.heap[BlockID(step.node)]
      let incoming = index > 0 ? closures[index - 1] : steps.last?.edge != nil ? closures[steps.count - 1] : nil
      var kind = type.kind
      var function: SourceFrame?
      if kind == .closure {
        function = incoming
        // A context that no function stands beside is a captured variable's box, if the program made it.
        if function == nil, isBox(steps, index), naming.maker(of: step.node) == nil { kind = .box }
      } else if kind == .task {
        function = naming.suspension(of: step.node)
      }
      result.append(
        Finding.Step(
          kind: kind, type: kind == .box ? "box" : type.name, qualifiedType: type.qualifiedName, function: function,
          allocation: naming.allocation(of: step.node), stack: naming.stack(of: step.node),
          address: RuntimeAddress(block.address), size: ByteCount(block.size),
          reference: nil, fields: kind == .object ? graph.fieldNames(of: step.node) : [],
          ownAllocation: naming.ownAllocation(of: step.node),
          ownFunction: kind == .task ? naming.ownSuspension(of: step.node) : nil,
          library: library(of: step.node, kind, function)))
    }
    for (index, step) in steps.enumerated() {
      guard let edge = step.edge else { continue }
      let target = result[index + 1 < result.count ? index + 1 : 0]
      result[index].reference = reference(
        edge, of: step.node, from: result[index], to: target, closure: closures[index])
      // Nobody wrote a function that only hands a closure on.
      if result[index].kind == .closure, result[index].function == nil, target.kind == .closure {
        result[index].library = FindingNaming.runtime
      }
    }
    return result
  }

  /// The library that has an object for itself. A closure is whose code it runs.
  private func library(of node: NodeID, _ kind: NodeKind, _ function: SourceFrame?) -> String? {
    if kind == .closure, let function { return naming.library(of: function, among: [function]) }
    return kind == .task ? nil : naming.library(of: node)
  }

  private func closureBehindThunks(_ edge: EdgeIndex, from node: NodeID) -> SourceFrame? {
    var (edge, node) = (edge, node)
    for _ in 0..<4 {
      let frame = naming.closure(of: edge, from: node)
      let target = graph.graph.target(of: edge)
      guard let beyond = thunkTargets[target] else { return frame }
      guard naming.isThunk(frame) else { return frame }
      if let inner = naming.closure(of: beyond, from: target) {
        (edge, node) = (beyond, target)
        if thunkTargets[graph.graph.target(of: beyond)] == nil { return inner }
      } else {
        return frame
      }
    }
    return nil
  }

  private func isBox(_ steps: [LeakGroup.Step], _ index: Int) -> Bool {
    let edge = index > 0 ? steps[index - 1].edge : steps.last?.edge
    guard let edge, let label = graph.label(graph.graph.label(of: edge)) else { return false }
    if case .closure = label.role { return false }
    return true
  }

  private func reference(
    _ edge: EdgeIndex, of node: NodeID, from step: Finding.Step, to target: Finding.Step, closure: SourceFrame?
  ) -> Finding.Reference {
    let heap = graph.graph
    let label = graph.label(heap.label(of: edge))
    let strength =
      EdgeStrength(rawValue: heap.kind(of: edge)).map { $0 == .taskLink || $0 == .surplus ? .conservative : $0 }
      ?? .conservative
    var name = label?.name ?? ""
    let isCapture = step.kind == .closure
    var isClosure = false
    if case .closure = label?.role { isClosure = true }
    if isCapture {
      let offset = label?.offset ?? EdgeLabelID(heap.label(of: edge)).scannedOffset.map { Int(clamping: $0) } ?? 0
      name = captureName(step, offset: offset, label: label)
      if name.isEmpty, !isClosure, mayBeSelf(edge, of: node, step, target) { name = "self" }
    }
    // A closure that captures one object has that for a context.
    let capturesSelf = isClosure && target.kind != .closure && target.kind != .box && hasSelfForContext(closure, target)
    return Finding.Reference(
      name: name, strength: strength, isClosure: isClosure, isCapture: isCapture, capturesSelf: capturesSelf,
      closure: isClosure ? closure : nil,
      caseName: label?.caseName)
  }

  /// The captured variable, if debug information tells which it is, with the part of its value.
  private func captureName(_ step: Finding.Step, offset: Int, label: EdgeLabel?) -> String {
    let part = label?.name ?? ""
    let captured = naming.captures(of: step.function)?.variable(
      at: offset, typeName: label?.typeName ?? "", contextSize: Int(clamping: step.size.rawValue), isPart: !part.isEmpty
    )
    guard let captured else { return part }
    return part.isEmpty ? captured.name : "\(captured.name).\(part)"
  }

  /// A guess where no variable is known: not with another capture of the same type.
  private func mayBeSelf(_ edge: EdgeIndex, of node: NodeID, _ step: Finding.Step, _ target: Finding.Step) -> Bool {
    guard isSelf(of: step.function, target) else { return false }
    if let captures = naming.captures(of: step.function), !captures.variables.contains(where: { $0.name == "self" }) {
      return false
    }
    let type = graph.type(of: graph.graph.target(of: edge)).qualifiedName
    return !graph.graph.edges(from: node).contains {
      $0 != edge && graph.type(of: graph.graph.target(of: $0)).qualifiedName == type
    }
  }

  private func hasSelfForContext(_ closure: SourceFrame?, _ target: Finding.Step) -> Bool {
    if let captures = naming.captures(of: closure), captures.variables.count == 1 {
      return captures.variables[0].name == "self"
    }
    return isSelf(of: closure, target)
  }

  /// A closure written in a method of the captured object's type captured `self`.
  private func isSelf(of function: SourceFrame?, _ target: Finding.Step) -> Bool {
    guard target.kind == .object, let name = function?.closureName, let range = name.rangeAfterLast(" in ") else {
      return false
    }
    let method = name[range...]
    let type = target.type.prefix { $0 != "<" }
    return method.hasPrefix("\(type).") || method.hasPrefix("\(type)<") || method.contains(".\(type).")
  }

  // MARK: What hangs from it

  /// Returns the objects that the shown instance keeps besides its path.
  private func held(by group: LeakGroup) -> [Finding.HeldType] {
    var sums = group.held
    for node in Set(group.steps.map(\.node)) {
      let type = graph.nodeTypes[Int(node)]
      guard let sum = sums[type], sum.blocks > 1 else {
        sums[type] = nil
        continue
      }
      sums[type] = LeakGroup.Sum(blocks: sum.blocks - 1, bytes: sum.bytes &- graph.heap[BlockID(node)].size)
    }
    return named(sums)
  }

  /// By type, most bytes first. Several types may have one name.
  private func named(_ sums: [UInt32: LeakGroup.Sum]) -> [Finding.HeldType] {
    var byName: [String: LeakGroup.Sum] = [:]
    for (type, sum) in sums {
      let name = graph.types[Int(type)].name
      byName[name, default: .init()].blocks += sum.blocks
      byName[name, default: .init()].bytes &+= sum.bytes
    }
    return byName.map { Finding.HeldType(name: $0.key, count: $0.value.blocks, bytes: ByteCount($0.value.bytes)) }
      .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
  }
}

extension String {
  fileprivate func rangeAfterLast(_ separator: String) -> String.Index? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(separator) { return self.index(index, offsetBy: separator.count) }
    }
    return nil
  }
}
