// Turns groups of leaked objects into findings: one for each cause. Findings of the program and of libraries are
// separate.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Builds findings from the results of `LeakFinder`. For one thread at a time.
package struct FindingBuilder {
  private let finder: LeakFinder
  private let groups: [LeakGroup]
  private let graph: ObjectGraph
  private let naming: FindingNaming
  private let closures: UnownedCaptures
  private let paths: FindingPaths
  private let held: HeldObjects
  private let instances: FindingInstances

  /// `groups`: the groups of `finder`, with further facts about them.
  init(_ finder: LeakFinder, groups: [LeakGroup]? = nil, naming: FindingNaming) {
    self.finder = finder
    self.groups = groups ?? finder.groups
    graph = finder.graph
    self.naming = naming
    closures = UnownedCaptures(finder.graph, self.groups)
    paths = FindingPaths(finder.graph, naming: naming)
    held = HeldObjects(finder.graph)
    instances = FindingInstances(finder.graph)
  }

  /// Returns findings without advice: the program's first, then the libraries' findings. In each part, the findings
  /// with the most retained bytes come first.
  func findings() -> [Finding] {
    var join = FindingJoin()
    let owners = OwnerSearch(graph, naming: naming)
    /// The index of the finding that has a group of causes; `several` if its instances are in more than one finding.
    var joined: [Int32: Int32] = [:]
    let losses = SampledLosses(graph, naming: naming, groups: groups)
    for group in groups.flatMap(parts).flatMap(losses.parts) {
      var finding: Finding
      switch owners.owner(of: group) {
      case .runtime: continue
      case .program: finding = self.finding(group)
      case .library(let reason):
        finding = self.finding(group)
        finding.owner = .library(reason: reason)
      case .unknown:
        finding = self.finding(group)
        finding.owner = .unknown
      }
      let index = Int32(truncatingIfNeeded: join.add(finding))
      if let cause = group.cause {
        joined[cause] = joined[cause].map { $0 == index ? index : CauseShares.several } ?? index
      }
    }
    var findings = join.joined()
    if joined.count > Set(joined.values).count, !joined.values.contains(CauseShares.several), let causes = finder.causes
    {
      // Objects that are kept only by groups of one finding count for that finding.
      for (index, sum) in causes.retained(joined: joined, graph.heap) where findings.indices.contains(Int(index)) {
        (findings[Int(index)].retainedBytes, findings[Int(index)].retainedBlocks) = (ByteCount(sum.bytes), sum.blocks)
      }
    }
    return Self.sorted(findings)
  }

  /// Splits the tasks that one place starts, by the function that they wait in. Each part shows its oldest task.
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
    // If all tasks wait in one place, keep the whole group: it also counts the objects that several tasks keep.
    if order.count == 1 { return [group] }
    return order.compactMap { function in parts[function].flatMap { group.part($0) } }
  }

  /// Maximum number of tasks from one place that are split by the function that they wait in.
  private static let namedTasks = 10_000

  /// Returns the program's findings first. In each part, the findings that retain most come first.
  package static func sorted(_ findings: [Finding]) -> [Finding] {
    findings.sorted {
      if $0.isLibrary != $1.isLibrary { return !$0.isLibrary }
      if $0.retainedBytes != $1.retainedBytes { return $0.retainedBytes > $1.retainedBytes }
      return ($0.instances, $0.fingerprint) > ($1.instances, $1.fingerprint)
    }
  }

  // MARK: One group

  private func finding(_ group: LeakGroup) -> Finding {
    var path = paths.path(closures.withHolder(group))
    let ending = group.ended.map { naming.ending(of: $0) }
    if path.isEmpty, let ended = group.ended, let ending { path = [naming.step(ended, ending)] }
    // If tail calls left no function of the program on the stack, the caller of the allocation function is the most
    // informative.
    if group.verdict == .lost, let first = group.steps.first?.node, !path.isEmpty, path[0].allocation == nil {
      path[0].allocation = naming.caller(of: first)
    }
    if group.verdict == .lost, !path.isEmpty, path[0].kind == .malloc, let stack = group.sampledStack {
      path[0].allocation = naming.allocation(stack, of: graph.type(of: group.steps[0].node)) ?? naming.caller(stack)
      path[0].stack = stack
    }
    if let dangling = group.dangling, !path.isEmpty {
      let label = graph.label(dangling.label.rawValue)
      path[path.count - 1].reference = Finding.Reference(
        name: label?.name ?? "", strength: .unmanaged, isClosure: false, isCapture: false, capturesSelf: false,
        closure: nil, caseName: label?.caseName,
        referentType: referentType(of: dangling, label).map { TypeNames.unqualified($0) },
        tenantType: ending == nil ? tenantType(of: dangling) : nil)
    }
    let nodes = instances.nodes(of: group)
    var origins = naming.origins(of: nodes)
    origins.samples = naming.samples(of: nodes)
    return Finding(
      evidence: evidence(of: group, ending), instances: group.instances,
      retainedBytes: ByteCount(group.retainedBytes),
      retainedBlocks: group.retainedBlocks, path: path, places: instances.place(of: group, path).map { [$0] } ?? [],
      subject: subject(of: group, path),
      held: Finding.Held(
        types: group.verdict == .dangling ? [] : held.types(by: group), isEqualForEach: group.isHeldByEach,
        together: group.heldTogether.isEmpty ? [] : held.byName(group.heldTogether)),
      origins: origins)
  }

  private func evidence(of group: LeakGroup, _ ending: Finding.Ending?) -> Finding.Evidence {
    let way = group.way.map(way)
    return switch group.verdict {
    case .retainCycle: .unreachable(.cycle, way: way)
    case .suspended:
      .unreachable(.suspended(group.isCycle ? .inCycle : .alone(taskWait(of: group))), way: way)
    case .lost: .unreachable(.lost(referenceCount(of: group)), way: way)
    case .deinitialised: .deinitialised(referenceCount(of: group))
    case .dangling: .dangling(ending)
    case .outlived, .accumulating, .growing: preconditionFailure("nothing that is reachable is in a group of leaks")
    }
  }

  /// Returns the counts of the last object on the path. A lost object is the only object on its path. A deinitialised
  /// object follows its holder.
  private func referenceCount(of group: LeakGroup) -> ReferenceCount? {
    group.steps.last.flatMap { graph.type(of: $0.node).kind.isCounted ? graph.referenceCount(of: $0.node) : nil }
  }

  private func taskWait(of group: LeakGroup) -> TaskWait? {
    guard let task = group.steps.first?.node, case .waiting(let wait)? = graph.taskStates[task] else { return nil }
    return wait
  }

  private func way(_ way: PossibleWay) -> Finding.Way {
    switch way {
    case .number(let holder): return .init(kind: .number, holder: naming.place(ofNumbersIn: holder))
    case .unkept(let holder, let edge):
      let isWeak = graph.graph.kind(of: edge) == EdgeStrength.weak.rawValue
      return .init(kind: isWeak ? .weak : .unowned, holder: naming.place(of: edge, from: holder))
    }
  }

  private func referentType(of reference: ObjectGraph.DanglingReference, _ label: EdgeLabel?) -> String? {
    reference.isTargetOfOtherClass
      ? label.map { ReferentName.withoutFiles($0.typeName) }
      : DanglingReferents(graph, naming.definitions.types).declaredClass(reference)
  }

  private func tenantType(of reference: ObjectGraph.DanglingReference) -> String? {
    guard reference.isTargetOfOtherClass, let found = graph.heap.block(containing: reference.target) else { return nil }
    return graph.type(of: found.rawValue).name
  }

  /// Returns the subject of leaked wrappers: an object that leaked with each wrapper.
  private func subject(of group: LeakGroup, _ path: [Finding.Step]) -> Finding.Subject? {
    guard group.verdict == .lost || group.verdict == .suspended || group.verdict == .retainCycle,
      let first = group.steps.first?.node, !graph.isRoot(first)
    else { return nil }
    if group.steps.contains(where: { naming.isOwn($0.node) }) { return nil }
    let sample = group.members.first { member in group.steps.contains { $0.node == member.node } }?.node ?? first
    // All nodes of a cycle keep the same objects, so the sample can replace the shown node.
    let wrappers = group.members.map { $0.node == group.shown ? sample : $0.node }
    return SubjectSearch(graph, naming: naming).subject(of: wrappers, sample: sample) { object, _ in
      finder.unreachable.contains(object)
    }?.subject
  }
}
