// Names groups of leaked objects, joins those with one cause, and tells the program's from the libraries'.

/// Makes findings of what `LeakFinder` found. For one thread at a time.
struct FindingBuilder {
  private let finder: LeakFinder
  private let groups: [LeakGroup]
  private let graph: ObjectGraph
  private let naming: FindingNaming

  /// `groups`: those of `finder`, with what else is known of them.
  init(_ finder: LeakFinder, groups: [LeakGroup]? = nil, naming: FindingNaming) {
    self.finder = finder
    self.groups = groups ?? finder.groups
    graph = finder.graph
    self.naming = naming
  }

  /// Findings of the program first, then those of libraries; in each the most retained bytes first.
  func findings() -> [Finding] {
    var numbers: [[String]: Int] = [:]
    var findings: [Finding] = []
    /// By group of causes: the finding that it is a part of.
    var joined: [Int32: Int32] = [:]
    for group in groups {
      let owner = owner(of: group)
      if case .runtime = owner { continue }
      var finding = finding(group)
      if case .library(let reason) = owner { finding.libraryReason = reason }
      let identity = FindingIdentity(finding)
      let parts = identity.parts
      if let known = numbers[parts] {
        findings[known].instances += finding.instances
        findings[known].retainedBytes.rawValue &+= finding.retainedBytes.rawValue
        findings[known].retainedBlocks &+= finding.retainedBlocks
        if let cause = group.cause { joined[cause] = Int32(truncatingIfNeeded: known) }
      } else {
        if let cause = group.cause { joined[cause] = Int32(truncatingIfNeeded: findings.count) }
        finding.fingerprint = identity.fingerprint
        numbers[parts] = findings.count
        findings.append(finding)
      }
    }
    if joined.count > Set(joined.values).count, let causes = finder.causes {
      // What hangs from several groups, and from no other finding, goes with them.
      for (index, sum) in causes.retained(joined: joined, graph.heap) {
        (findings[Int(index)].retainedBytes, findings[Int(index)].retainedBlocks) = (ByteCount(sum.bytes), sum.blocks)
      }
    }
    for index in findings.indices { findings[index].advice = Advice.lines(for: findings[index]) }
    return Self.sorted(findings)
  }

  /// The program's first; in each part those that retain most.
  static func sorted(_ findings: [Finding]) -> [Finding] {
    findings.sorted {
      if $0.isLibrary != $1.isLibrary { return !$0.isLibrary }
      if $0.retainedBytes != $1.retainedBytes { return $0.retainedBytes > $1.retainedBytes }
      return ($0.instances, $0.fingerprint) > ($1.instances, $1.fingerprint)
    }
  }

  // MARK: One group

  private func finding(_ group: LeakGroup) -> Finding {
    var path = path(group.steps)
    let ending = group.ended.map { naming.ending(of: $0) }
    if path.isEmpty, let ended = group.ended, let ending { path = [naming.step(ended, ending)] }
    if let dangling = group.dangling, !path.isEmpty {
      let label = graph.label(dangling.label.rawValue)
      path[path.count - 1].reference = Finding.Reference(
        name: label?.name ?? "", strength: .unmanaged, isClosure: false, isCapture: false, capturesSelf: false, closure: nil, caseName: label?.caseName)
    }
    // The last on the path: of a lost object the only one, of a deinitialised one that behind its holder.
    let isCountTold = group.verdict == .lost || group.verdict == .deinitialised
    let counted = isCountTold ? group.steps.last.flatMap { graph.type(of: $0.node).kind.isCounted ? $0.node : nil } : nil
    return Finding(
      verdict: group.verdict, libraryReason: nil, isCycle: group.isCycle, instances: group.instances, retainedBytes: ByteCount(group.retainedBytes),
      retainedBlocks: group.retainedBlocks, path: path, held: held(by: group), heldTogether: group.heldTogether.isEmpty ? nil : named(group.heldTogether),
      referenceCount: counted.flatMap { graph.referenceCount(of: $0) }, ending: ending, advice: [], fingerprint: "")
  }

  /// Function values of one type passed as another go through a thunk with a context of its own, which nobody wrote: the reference that leads
  /// to it is taken to lead to what it calls.
  func path(_ steps: [LeakGroup.Step]) -> [Finding.Step] {
    var kept: [LeakGroup.Step] = []
    for (index, step) in steps.enumerated() {
      let before = index > 0 ? steps[index - 1] : steps[steps.count - 1]
      if steps.count > 1, index > 0, graph.type(of: step.node).kind == .closure, let incoming = before.edge, let beyond = step.edge,
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
    named[Self.shownSteps - tail].type = "\(left - tail) more, the last of them \(named[Self.shownSteps - tail].type)"
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
        // A context that no function stands beside is a captured variable's box.
        if function == nil, isBox(steps, index) { kind = .box }
      } else if kind == .task {
        function = naming.suspension(of: step.node)
      }
      result.append(
        Finding.Step(
          kind: kind, type: kind == .box ? "box" : type.name, qualifiedType: type.qualifiedName, function: function,
          allocation: naming.allocation(of: step.node), stack: naming.stack(of: step.node), address: RuntimeAddress(block.address), size: ByteCount(block.size),
          reference: nil, fields: kind == .object ? graph.fieldNames(of: step.node) : []))
    }
    for (index, step) in steps.enumerated() {
      guard let edge = step.edge else { continue }
      let target = result[index + 1 < result.count ? index + 1 : 0]
      result[index].reference = reference(edge, of: step.node, from: result[index], to: target, closure: closures[index])
    }
    return result
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
    let strength = EdgeStrength(rawValue: heap.kind(of: edge)) ?? .conservative
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
      name: name, strength: strength, isClosure: isClosure, isCapture: isCapture, capturesSelf: capturesSelf, closure: isClosure ? closure : nil,
      caseName: label?.caseName)
  }

  /// The captured variable, if debug information tells which it is, with the part of its value.
  private func captureName(_ step: Finding.Step, offset: Int, label: EdgeLabel?) -> String {
    let part = label?.name ?? ""
    let captured = naming.captures(of: step.function)?.variable(
      at: offset, typeName: label?.typeName ?? "", contextSize: Int(clamping: step.size.rawValue), isPart: !part.isEmpty)
    guard let captured else { return part }
    return part.isEmpty ? captured.name : "\(captured.name).\(part)"
  }

  /// A guess where no variable is known: not with another capture of the same type.
  private func mayBeSelf(_ edge: EdgeIndex, of node: NodeID, _ step: Finding.Step, _ target: Finding.Step) -> Bool {
    guard isSelf(of: step.function, target) else { return false }
    if let captures = naming.captures(of: step.function), !captures.variables.contains(where: { $0.name == "self" }) { return false }
    let type = graph.type(of: graph.graph.target(of: edge)).qualifiedName
    return !graph.graph.edges(from: node).contains { $0 != edge && graph.type(of: graph.graph.target(of: $0)).qualifiedName == type }
  }

  private func hasSelfForContext(_ closure: SourceFrame?, _ target: Finding.Step) -> Bool {
    if let captures = naming.captures(of: closure), captures.variables.count == 1 { return captures.variables[0].name == "self" }
    return isSelf(of: closure, target)
  }

  /// A closure written in a method of the captured object's type captured `self`.
  private func isSelf(of function: SourceFrame?, _ target: Finding.Step) -> Bool {
    guard target.kind == .object, let name = function?.closureName, let range = name.rangeAfterLast(" in ") else { return false }
    let method = name[range...]
    let type = target.type.prefix { $0 != "<" }
    return method.hasPrefix("\(type).") || method.hasPrefix("\(type)<") || method.contains(".\(type).")
  }

  // MARK: What hangs from it

  /// What the shown instance keeps besides its path.
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

  // MARK: Whose it is

  private enum Owner {
    case program
    case library(String)
    /// Memory that the Swift or C runtime keeps for itself.
    case runtime
  }

  private func owner(of group: LeakGroup) -> Owner {
    let nodes = group.steps.map(\.node)
    if nodes.isEmpty, let ended = group.ended { return user(of: ended) }
    if group.verdict == .dangling { return SystemCode.isSystemModule(graph.type(of: nodes[0]).module) ? .runtime : .program }
    if let known = nodes.lazy.compactMap({ KnownLibraryLeaks.reason(graph.type(of: $0)) }).first, !group.isCycle || nodes.allSatisfy(isSystemObject) {
      return .library(known)
    }
    let target = group.verdict == .deinitialised ? nodes[nodes.count - 1] : nodes[0]
    if group.isCycle {
      guard nodes.allSatisfy(isSystemObject) else { return .program }
      return nodes.contains { graph.type(of: $0).kind != .malloc }
        ? .library("every object of the cycle belongs to a library") : allocator(of: target, isObject: false)
    }
    let type = graph.type(of: target)
    if type.kind == .task { return .program }
    return allocator(of: target, isObject: type.kind.isCounted)
  }

  /// By who used an object that had ended: an object of the program's, or of a library's that the program called.
  private func user(of ended: EndedBlock) -> Owner {
    let type = naming.type(of: ended)
    guard type.kind == .object, SystemCode.isSystemModule(type.module) else { return .program }
    let frames = naming.frames(of: ended.used?.stack ?? .unknown)
    if frames.isEmpty || frames.contains(where: { $0.kind == .user }) { return .program }
    return .library("used inside \(frames.first { $0.kind == .systemLibrary && $0.isNamed }?.function ?? "a library") without a caller in the program")
  }

  /// Neither a class of the program's nor a closure that it wrote.
  private func isSystemObject(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    switch type.kind {
    case .object: return SystemCode.isSystemModule(type.module) && !TypeNames.arguments(type.qualifiedName).contains { isProgramType($0) }
    case .task: return false
    case .closure, .box:
      // Whose closure it is shows in who made it.
      return naming.frames(of: graph.heap[BlockID(node)].site).first { !AllocationFunctions.isOne($0) && $0.kind != .thunk }?.kind != .user
    default: return true
    }
  }

  private func isProgramType(_ name: String) -> Bool {
    guard let dot = name.firstIndex(of: ".") else { return false }
    return !SystemCode.isSystemModule(String(name[..<dot]))
  }

  /// By who called for the memory: between the program's frame and the allocation there may be containers of the standard library and
  /// functions of the C library that hand their result out, but no library that has objects of its own.
  private func allocator(of node: NodeID, isObject: Bool) -> Owner {
    let type = graph.type(of: node)
    let frames = naming.frames(of: graph.heap[BlockID(node)].site)
    let inner = frames.drop { AllocationFunctions.isOne($0) || $0.kind == .thunk }
    guard let first = inner.first else { return .runtime }
    let isProgramClass = type.kind == .object && !SystemCode.isSystemModule(type.module)
    if first.kind == .user || isProgramClass { return .program }
    let between = inner.prefix { $0.kind != .user }
    let hasUser = between.count < inner.count
    if !isObject, between.contains(where: { AllocationFunctions.isRuntimeInternal($0) }) { return .runtime }
    if !hasUser { return isObject ? .library("made by \(first.function) without a caller in the program") : .runtime }
    let own = type.name.prefix { $0 != "<" }
    for frame in between {
      if frame.kind == .thunk || AllocationFunctions.isTransparent(frame) { continue }
      if type.kind == .object, frame.function.contains("\(own).init(") || frame.function.contains("\(own).__allocating_init(") { continue }
      return .library("made inside \(frame.function)")
    }
    return .program
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
