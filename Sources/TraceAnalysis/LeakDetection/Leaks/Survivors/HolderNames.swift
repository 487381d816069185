// Names holders in the words of the program's author.

import HeapAnalysis
import TraceSymbolication

/// Recognises registrations on retain paths, and names holders. For one thread at a time.
final class HolderNames {
  private let graph: ObjectGraph
  private let naming: FindingNaming

  init(_ graph: ObjectGraph, naming: FindingNaming) {
    self.graph = graph
    self.naming = naming
  }

  /// Returns the last step of a path that is a registration of the steps after it. A registration shared by many
  /// objects (a notification centre) may be anywhere. A registration made for one object (a timer, a task) must come
  /// after the step `place`, which is the last step that leads to all objects.
  func registration(_ steps: [LeakGroup.Step], after place: Int) -> (index: Int, kind: Finding.Registration)? {
    for index in steps.indices.dropLast().reversed() where !graph.isRoot(steps[index].node) {
      if isSchedule(steps[index]) { return (index, .eventLoop) }
      if isGroup(steps[index].node, of: steps[index + 1].node) { return (index, .taskGroup) }
      // A finished task is no registration: only its handle keeps it.
      if isFinished(steps[index].node) { continue }
      guard let kind = kind(of: steps[index].node) else { continue }
      // A work item that the program itself holds may never have been scheduled.
      if kind == .dispatchWork, index > 0, isProgramsOwn(steps[index - 1].node) { continue }
      if kind == .observer || kind == .observation || index > place { return (index, kind) }
    }
    // A running thread holds the objects on its stack and in its thread-local variables.
    guard place == 0, steps.count > 1 else { return nil }
    switch graph.root(steps[0].node).kind {
    case .stack(let thread), .threadLocal(let thread): return isMain(thread) ? nil : (0, .thread)
    default: return nil
    }
  }

  private func isFinished(_ node: NodeID) -> Bool {
    !graph.isRoot(node) && graph.taskStates[graph.taskOfSlab[node] ?? node] == .finished
  }

  /// Returns whether a node is memory of a task group, with the results of children that have finished.
  private func isGroup(_ node: NodeID, of child: NodeID) -> Bool {
    // The frame of a task may have the handle of another task.
    graph.type(of: node).kind == .malloc && graph.taskOfSlab[node] == nil && graph.type(of: child).kind == .task
      && isFinished(child)
  }

  private func isProgramsOwn(_ node: NodeID) -> Bool {
    if graph.isRoot(node) {
      guard case .global(let image) = graph.root(node).kind else { return false }
      return !SystemCode.isSystemImage(graph.roots.images[image].path)
    }
    let kind = graph.type(of: node).kind
    return kind.isCounted && kind != .task && self.kind(of: node) == nil
  }

  private func isMain(_ thread: Int) -> Bool {
    guard graph.snapshot.threads.indices.contains(thread), let pointer = graph.snapshot.threads[thread].stackPointer
    else { return true }
    return graph.snapshot.regions.contains { $0.kind == .mainStack && $0.range.contains(pointer) }
  }

  /// Returns whether a step is an event loop's list of scheduled work.
  private func isSchedule(_ step: LeakGroup.Step) -> Bool {
    guard let edge = step.edge, let label = graph.label(graph.graph.label(of: edge)),
      label.name.lowercased().contains("scheduledtasks")
    else { return false }
    return graph.type(of: step.node).qualifiedName.contains("EventLoop")
  }

  private func kind(of node: NodeID) -> Finding.Registration? {
    let isBlock = graph.type(of: node).kind == .malloc && graph.taskOfSlab[node] == nil
    return (isBlock ? kindOfBlock(node) : nil) ?? kindByType(of: node)
  }

  /// Returns the kind that the type of an object shows. This needs no stack and no name of a function.
  private func kindByType(of node: NodeID) -> Finding.Registration? {
    let type = graph.type(of: node)
    switch type.kind {
    case .task: return .task
    case .malloc: return graph.taskOfSlab[node] != nil ? .task : sources.contains(node) ? .dispatchSource : nil
    case .object: return Registrations.kind(ofType: type.qualifiedName)
    default: return nil
    }
  }

  /// libdispatch's own blocks of sources. An object of class `DispatchSource` leads to each block. A timer has a second
  /// block, and the heap of timers leads to it.
  private lazy var sources: Set<NodeID> = {
    var sources: Set<NodeID> = []
    for node in 0..<NodeID(graph.blockCount)
    where graph.type(of: node).kind == .object
      && Registrations.kind(ofType: graph.type(of: node).qualifiedName) == .dispatchSource
    {
      for source in blocks(from: node) {
        sources.insert(source)
        sources.formUnion(blocks(from: source).filter(timedBlocks.contains))
      }
    }
    return sources
  }()

  /// Returns the blocks of malloc that a node leads to.
  private func blocks(from node: NodeID) -> [NodeID] {
    graph.graph.edges(from: node).map { graph.graph.target(of: $0) }
      .filter { !graph.isRoot($0) && graph.type(of: $0).kind == .malloc }
  }

  /// The blocks that libdispatch's timers lead to, directly or by the arrays of a heap of many timers.
  private lazy var timedBlocks: Set<NodeID> = {
    var found = timers
    var layer = Array(timers)
    for _ in 0..<Self.heapDepth {
      layer = layer.flatMap { blocks(from: $0) }.filter { found.insert($0).inserted }
    }
    return found
  }()

  /// Maximum number of arrays in a heap of timers. Each array leads to the previous one, and is twice as large. This is
  /// enough for 2,000 timers.
  private static let heapDepth = 8

  /// Returns whether a node calls the program back, or is the memory of a group that keeps a result. `next`: the next
  /// node on the path.
  func isRegistration(_ node: NodeID, of next: NodeID) -> Bool {
    if isGroup(node, of: next) { return true }
    return !isFinished(node) && kindByType(of: node) != nil
  }

  /// The library objects that keep observers, such as notification centres, and their collections of observers.
  private(set) lazy var centers: Set<NodeID> = {
    var centers: Set<NodeID> = []
    var pending = (0..<NodeID(graph.blockCount)).filter {
      graph.type(of: $0).kind == .object && kindByType(of: $0) == .observer && !naming.isOwn($0)
    }
    while let node = pending.popLast() {
      guard centers.insert(node).inserted else { continue }
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        if !graph.isRoot(target), graph.type(of: target).kind.isCollection { pending.append(target) }
      }
    }
    return centers
  }()

  /// Returns whether libdispatch's timers lead to a block.
  func isInTimers(_ node: NodeID) -> Bool { timers.contains(node) }

  private lazy var timers: Set<NodeID> = {
    var timers: Set<NodeID> = []
    for root in graph.rootNodes {
      for target in blocks(from: root) where !timers.contains(target) {
        if Registrations.timers.matches(naming.origin(root, target: target).name) { timers.insert(target) }
      }
    }
    return timers
  }()

  /// Returns whether a block belongs to a call of `dispatch_after`.
  func isDelayedWork(_ node: NodeID) -> Bool {
    isAllocated(node) { Registrations.kind(ofSymbol: $0) == .dispatchWork }
  }

  /// Returns whether a node is work that a library is about to run.
  func isJob(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    guard type.kind == .malloc else { return Registrations.isJob(ofType: type.qualifiedName) }
    return graph.taskOfSlab[node] == nil && isAllocated(node, by: Registrations.isJob(ofSymbol:))
  }

  /// Returns whether a library's function allocated a block. `fits`: by the function's linker symbol.
  private func isAllocated(_ node: NodeID, by fits: (String) -> Bool) -> Bool {
    naming.frames(of: graph.heap[BlockID(node)].site).prefix(Self.registrationDepth).prefix { $0.kind != .user }
      .contains { $0.mangledName.map(fits) ?? false }
  }

  /// Maximum number of frames between the function that registers and the allocator.
  private static let registrationDepth = 12

  private func kindOfBlock(_ node: NodeID) -> Finding.Registration? {
    var kind: Finding.Registration?
    for frame in naming.frames(of: graph.heap[BlockID(node)].site).prefix(Self.registrationDepth) {
      guard frame.kind != .user else { break }
      // A stripped library names only its exported functions.
      guard let name = frame.mangledName, let found = Registrations.kind(ofSymbol: name) else { continue }
      // Other kinds of registrations use a source of libdispatch. The function that made the source decides.
      if found != .dispatchSource { return found }
      kind = found
    }
    return kind
  }

  // MARK: Names

  /// Returns the name of the holder at a step of a path: the registration if there is one, else the variable or field
  /// of the suspect reference.
  func name(
    _ steps: [LeakGroup.Step], suspect: Int, registration: Finding.Registration?, named: [Finding.Step],
    origin: PathOrigin
  ) -> String {
    switch registration {
    case .timer?: return "a RunLoop timer"
    case .observer?: return usesDefaultCenter(steps, origin) ? "NotificationCenter.default" : "a NotificationCenter"
    case .observation?:
      let model = steps[..<suspect].last { !graph.isRoot($0.node) && graph.type(of: $0.node).kind == .object }
      return "the observation of \(model.map { graph.type(of: $0.node).name } ?? "a model")"
    case .dispatchSource?: return isTimerSource(steps, suspect) ? "a DispatchSource timer" : "a DispatchSource"
    case .fileHandle?: return "the handler of a FileHandle"
    case .dispatchWork?: return "work scheduled by DispatchQueue.asyncAfter"
    case .urlSession?: return "a URLSession that was not invalidated"
    case .thread?: return "threads that have not ended"
    case .eventLoop?: return "a task scheduled on an EventLoop (\(place(suspect + 1, named: named, origin: origin)))"
    case .task?:
      let task = graph.taskOfSlab[steps[suspect].node] ?? steps[suspect].node
      return naming.allocation(of: task).map { "a task started in \($0.function)" }
        ?? naming.suspension(of: task).map { "a task in \($0.function)" } ?? "a task"
    case .taskGroup?:
      return naming.allocation(of: steps[suspect + 1].node).map { "a task group in \($0.function)" }
        ?? owner(ofGroup: steps[...suspect]).map { "a task group in \($0.function)" } ?? "a task group"
    case nil: return place(suspect, named: named, origin: origin)
    }
  }

  /// Returns the function of the task that has a group among its frames, and waits for the group's children.
  private func owner(ofGroup steps: ArraySlice<LeakGroup.Step>) -> SourceFrame? {
    steps.reversed().lazy.map { self.graph.taskOfSlab[$0.node] ?? $0.node }
      .first { !self.graph.isRoot($0) && self.graph.type(of: $0).kind == .task && !self.isFinished($0) }
      .flatMap { naming.suspension(of: $0) }
  }

  /// Returns whether a source is a timer. libdispatch keeps work that waits for a time in heaps of timers.
  private func isTimerSource(_ steps: [LeakGroup.Step], _ index: Int) -> Bool {
    guard graph.isRoot(steps[0].node) else { return false }
    return Registrations.timers.matches(
      naming.origin(steps[0].node, target: steps.count > 1 ? steps[1].node : nil).name)
      || naming.frames(of: graph.heap[BlockID(steps[index].node)].site).contains {
        Registrations.timerMakers.matches($0.function)
      }
  }

  private func usesDefaultCenter(_ steps: [LeakGroup.Step], _ origin: PathOrigin) -> Bool {
    origin.kind == .global && origin.name.contains("NotificationCenter") || origin.name.contains("efaultCenter")
  }

  /// Returns the nearest name on the path to the suspect reference: `static Cache.all`, `Server.connections`. `named`
  /// begins with the step after the root, so the suspect reference leads to `named[suspect]`.
  private func place(_ suspect: Int, named: [Finding.Step], origin: PathOrigin) -> String {
    var index = suspect - 1
    while index >= 0, index < named.count {
      let step = named[index]
      if step.kind == .object, let reference = step.reference, !reference.name.isEmpty,
        !SystemCode.isSystemModule(String(step.qualifiedType.prefix { $0 != "." }))
      {
        return "\(step.type).\(reference.name)"
      }
      if step.kind == .closure, let reference = step.reference, let function = step.function {
        return reference.name.isEmpty ? function.closureName : "\(reference.name) captured by \(function.closureName)"
      }
      index -= 1
    }
    if origin.kind == .global { return Self.withoutImage(origin.name) }
    return origin.name
  }

  /// Returns the program's own field or variable that leads to the suspect reference, if this reference is a library's
  /// field. Returns nil if it is the program's field, or if nothing of the program leads there.
  func ownName(_ steps: [LeakGroup.Step], suspect: Int, named: [Finding.Step], origin: PathOrigin) -> String? {
    guard isOfLibrary(steps, suspect: suspect) else { return nil }
    for step in named.prefix(suspect).reversed() {
      guard step.kind == .object, step.library == nil, let reference = step.reference, !reference.name.isEmpty else {
        continue
      }
      return "\(step.type).\(reference.name)"
    }
    guard origin.kind == .global, case .global(let image) = graph.root(steps[0].node).kind,
      !SystemCode.isSystemImage(graph.roots.images[image].path)
    else { return nil }
    // Short names omit the program's module, but no other module.
    let variable = Self.withoutImage(origin.name)
    let owner = variable.split(separator: " ").last.map { String($0.prefix { $0 != "." }) } ?? ""
    return naming.package(ofModule: owner) == nil ? variable : nil
  }

  /// Returns whether the nearest object on the path to the suspect reference is a library's.
  func isOfLibrary(_ steps: [LeakGroup.Step], suspect: Int) -> Bool {
    for step in steps.prefix(suspect + 1).reversed()
    where !graph.isRoot(step.node) && graph.type(of: step.node).kind == .object { return !naming.isOwn(step.node) }
    return false
  }

  /// Returns a variable's name without its image: `static Cache.all` for `static Cache.all in App`.
  static func withoutImage(_ name: String) -> String {
    guard let range = name.range(of: " in ", fromEnd: true) else { return name }
    return String(name[..<range])
  }
}

extension String {
  /// Returns the start index of the last occurrence of a text; nil if there is none.
  fileprivate func range(of text: String, fromEnd: Bool) -> String.Index? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(text) { return index }
    }
    return nil
  }
}
