// Makes the inventory of a heap image's tasks.

import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

extension LeakAnalysis {
  /// Returns all tasks of the heap image. O(graph), and look-ups of names for each row.
  package func taskInventory() -> TaskInventory { TaskInventoryBuilder(self).inventory() }
}

/// Collects the tasks of a heap image. For one thread at a time.
private struct TaskInventoryBuilder {
  /// The facts of a task, before names are looked up.
  private struct Candidate {
    var address: UInt64
    /// The task's own block, or the block that contains an inner task.
    var node: NodeID
    var isInner: Bool
    var state: TaskInventory.State
    var dependency: TaskDependency?
    var status: TaskStatus?
    var age: Double?
    /// True if the task never ends.
    var isStuck = false
    /// The functions of the thread that runs the task, innermost first.
    var functions: [SourceFrame] = []
  }

  /// Equal for tasks that differ in no fact that a row shows. It has no names, so that each row is named once.
  private struct Key: Hashable {
    var state: TaskInventory.State
    var wait: UInt64
    var resumptions: [UInt64]
    var beginning: UInt64?
    var site: SiteID?
    var owner: UInt64
    var parent: UInt64?
    var isGroupChild: Bool?
    var isCancelled: Bool?
    var priority: UInt8?
    var isStuck: Bool
    var functions: [SourceFrame]
    var locals: [UInt64]
  }

  private let analysis: LeakAnalysis
  private let graph: ObjectGraph
  private let relations: TaskRelations
  private let names: FindingNaming
  private let timers: SleepTimers

  private static let sleeps = RuleBook.shipped.table(.sleeps, by: .function)
  /// The innermost functions of a task that reads a stream begin with one of these names.
  private static let streams = ["AsyncStream.", "AsyncThrowingStream.", "AsyncStream<", "AsyncThrowingStream<"]

  init(_ analysis: LeakAnalysis) {
    self.analysis = analysis
    graph = analysis.graph
    relations = graph.taskRelations
    names = analysis.names()
    timers = SleepTimers(graph)
  }

  func inventory() -> TaskInventory {
    var inventory = TaskInventory()
    if let difference = relations.unknownLayout {
      inventory.obstacle = difference
    } else if !graph.snapshot.isFrozen {
      inventory.obstacle = "the image was taken while threads ran, so the states of tasks are not known"
    }
    var candidates = candidates()
    let waiting = candidates.filter { $0.dependency == .continuation || !relations.isKnown }
    let search = ResumerSearch(
      graph, tasks: Set(waiting.lazy.filter { !$0.isInner }.map(\.node)),
      inner: Set(waiting.lazy.filter(\.isInner).map(\.address)))
    let dominators = DominatorTree(
      graph.graph, roots: graph.rootNodes + analysis.leakHeads(), kinds: ObjectGraph.owning)
    var sizes = [UInt64](repeating: 0, count: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    let retained = dominators.retainedSizes(sizes)
    var slabs: [NodeID: UInt64] = [:]
    for (slab, task) in graph.taskOfSlab { slabs[task, default: 0] &+= graph.heap[BlockID(slab)].size }

    let indices = Dictionary(uniqueKeysWithValues: candidates.enumerated().map { ($1.address, $0) })
    let running = indices.filter { candidates[$0.value].state == .running }
    inventory.threads = TaskThreads(analysis, names, running: running).threads()
    for thread in inventory.threads { if let task = thread.task { candidates[task].functions = thread.functions } }
    let deadlocks = DeadlockSearch(
      facts(candidates, indices, inventory.threads, search), threads: inventory.threads)
    inventory.deadlocks = deadlocks.deadlocks
    for task in deadlocks.stuck { candidates[task].isStuck = true }
    var rows: [TaskInventory.Row] = []
    var rowOfKey: [Key: Int] = [:]
    var namesOfRows: [Int: Set<String>] = [:]
    let locals = TaskLocalNames(graph, names, tasks: candidates.map(\.address))
    for candidate in candidates {
      let key = key(of: candidate, search)
      let index = rowOfKey[key] ?? rows.count
      if index == rows.count {
        rowOfKey[key] = index
        rows.append(row(of: candidate, search))
        rows[index].locals = key.locals.map(locals.key)
      }
      rows[index].count += 1
      let name = graph.taskName(at: candidate.address)
      if let name, namesOfRows[index, default: []].insert(name).inserted { rows[index].names.append(name) }
      if !candidate.isInner {
        rows[index].bytes &+= graph.heap[BlockID(candidate.node)].size &+ (slabs[candidate.node] ?? 0)
        rows[index].retainedBytes &+= retained[candidate.node]
      }
      if let age = candidate.age {
        let known = rows[index].ages ?? age...age
        rows[index].ages = min(known.lowerBound, age)...max(known.upperBound, age)
      }
      inventory.tasks.append(
        TaskInventory.Task(
          address: RuntimeAddress(candidate.address), name: name, row: index, parent: nil,
          group: relations.groups[candidate.address].map { RuntimeAddress($0) }, age: candidate.age))
    }
    for index in inventory.tasks.indices {
      inventory.tasks[index].parent = relations.parents[inventory.tasks[index].address.rawValue].flatMap { indices[$0] }
    }
    addTimers(&rows, &inventory)
    join(rows, &inventory)
    inventory.actors = actors(candidates, threads: inventory.threads)
    return inventory
  }

  /// Adds the timers of sleeping tasks, and the rest of each sleep.
  private func addTimers(_ rows: inout [TaskInventory.Row], _ inventory: inout TaskInventory) {
    guard rows.contains(where: { $0.wait == .sleep }) else { return }
    let clocks = analysis.model.trace.definitions.clockSamples.last { $0.time <= graph.snapshot.time && $0.boot != nil }
    for index in inventory.tasks.indices {
      let row = inventory.tasks[index].row
      guard rows[row].wait == .sleep, let timer = timers.bySleeper[inventory.tasks[index].address.rawValue] else {
        continue
      }
      inventory.tasks[index].timer = timer
      guard let clocks, let left = left(of: timer, clocks) else { continue }
      inventory.tasks[index].sleepLeft = left
      let known = rows[row].sleepLeft ?? left...left
      rows[row].sleepLeft = min(known.lowerBound, left)...max(known.upperBound, left)
    }
  }

  /// Returns the seconds from the image until a timer fires; nil if the trace lacks the timer's clock.
  private func left(of timer: TaskTimer, _ clocks: ClockSample) -> Double? {
    let now: UInt64
    switch timer.clock {
    case .suspending: now = graph.snapshot.monotonic
    // The clocks differ by the time that the machine was suspended.
    case .continuous: now = graph.snapshot.monotonic &+ (clocks.boot ?? 0) &- clocks.monotonic
    case .wall: return nil
    }
    return Double(Int64(bitPattern: timer.target &- now)) / 1e9
  }

  /// Joins rows that show the same, and sorts them.
  private func join(_ rows: [TaskInventory.Row], _ inventory: inout TaskInventory) {
    struct Shown: Hashable {
      var state: TaskInventory.State
      var wait: TaskInventory.Wait?
      var resumer: TaskInventory.Resumer?
      var stack: [SourceFrame]
      var functions: [SourceFrame?]
      var flags: [Bool?]
      var priority: UInt8?
      var locals: [TaskInventory.TaskLocalKey]
    }
    var joined: [TaskInventory.Row] = []
    var places: [Shown: Int] = [:]
    var placeOfRow: [Int] = []
    for row in rows {
      let shown = Shown(
        state: row.state, wait: row.wait, resumer: row.resumer, stack: row.stack,
        functions: [row.function, row.creator, row.parent], flags: [row.isGroupChild, row.isCancelled],
        priority: row.priority, locals: row.locals)
      guard let place = places[shown] else {
        places[shown] = joined.count
        placeOfRow.append(joined.count)
        joined.append(row)
        continue
      }
      placeOfRow.append(place)
      joined[place].count += row.count
      let known = Set(joined[place].names)
      joined[place].names += row.names.filter { !known.contains($0) }
      joined[place].bytes &+= row.bytes
      joined[place].retainedBytes &+= row.retainedBytes
      if let ages = row.ages {
        let known = joined[place].ages ?? ages
        joined[place].ages =
          min(known.lowerBound, ages.lowerBound)...max(known.upperBound, ages.upperBound)
      }
      if let left = row.sleepLeft {
        let known = joined[place].sleepLeft ?? left
        joined[place].sleepLeft = min(known.lowerBound, left.lowerBound)...max(known.upperBound, left.upperBound)
      }
    }
    let order = joined.indices.sorted {
      (joined[$1].count, joined[$0].order, $0) < (joined[$0].count, joined[$1].order, $1)
    }
    var newPlace = [Int](repeating: 0, count: joined.count)
    for (new, old) in order.enumerated() { newPlace[old] = new }
    inventory.rows = order.map { joined[$0] }
    for index in inventory.tasks.indices {
      inventory.tasks[index].row = newPlace[placeOfRow[inventory.tasks[index].row]]
    }
  }

  // MARK: Tasks

  /// Returns the program's tasks in ascending order of addresses.
  private func candidates() -> [Candidate] {
    var candidates: [Candidate] = []
    // Many tasks begin with one function, and its name is long.
    var makers: [UInt64: Maker] = [:]
    func isOwn(_ task: UInt64) -> Bool {
      guard let beginning = graph.beginning(ofTaskAt: task) else { return true }
      let maker = makers[beginning] ?? maker(ofTaskBeginningAt: beginning)
      makers[beginning] = maker
      return maker == .program || maker == .nameless && !timers.runtimeTasks.contains(task)
    }
    for node in 0..<NodeID(graph.blockCount) where graph.type(of: node).kind == .task {
      let block = graph.heap[BlockID(node)]
      // An inspection does not have the times of allocations.
      var age: Double?
      if analysis.model.snapshot.reason != .inspection,
        let now = analysis.model.trace.clock.seconds(at: graph.snapshot.time),
        let birth = analysis.model.trace.clock.seconds(at: block.birthTime)
      {
        age = max(0, now - birth)
      }
      if isOwn(block.address) { add(block.address, node, isInner: false, age: age, to: &candidates) }
    }
    for address in relations.inner {
      guard let block = graph.heap.block(containing: address) else { continue }
      if isOwn(address) { add(address, block.rawValue, isInner: true, age: nil, to: &candidates) }
    }
    candidates.sort { $0.address < $1.address }
    let onThreads = addressesOnThreads(candidates.filter { $0.state == .unknown }.map(\.address))
    for index in candidates.indices where candidates[index].state == .unknown && relations.isKnown {
      // Without a record of a wait, a task runs, or has not begun. The thread that runs a task has its address.
      let address = candidates[index].address
      if onThreads.contains(address) {
        candidates[index].state = .running
      } else if graph.hasNotBegun(taskAt: address) {
        candidates[index].state = .ready
      }
    }
    return candidates
  }

  private func add(
    _ address: UInt64, _ node: NodeID, isInner: Bool, age: Double?, to candidates: inout [Candidate]
  ) {
    var candidate = Candidate(
      address: address, node: node, isInner: isInner, state: .unknown, dependency: relations.dependencies[address],
      status: graph.taskStatus(at: address), age: age)
    candidate.state = state(of: candidate)
    candidates.append(candidate)
  }

  /// Returns the state that the task's own memory shows. `unknown` for a task that runs or has not begun, if an older
  /// recorder made the image.
  private func state(of task: Candidate) -> TaskInventory.State {
    if let status = task.status {
      if status.isComplete { return .finished }
      if status.isRunning { return .running }
      if status.isEnqueued { return .ready }
    }
    return switch task.dependency {
    case .executor?: .ready
    case .some: .waiting
    case nil: relations.finished.contains(task.address) ? .finished : .unknown
    }
  }

  /// Returns the facts that show which tasks are stuck.
  private func facts(
    _ candidates: [Candidate], _ indices: [UInt64: Int], _ threads: [TaskInventory.Thread], _ search: ResumerSearch
  ) -> [DeadlockSearch.Task] {
    var children: [UInt64: [Int]] = [:]
    for (child, group) in relations.groups {
      if let index = indices[child] { children[group, default: []].append(index) }
    }
    let threadOfTask = Dictionary(
      threads.enumerated().compactMap { index, thread in thread.task.map { ($0, index) } },
      uniquingKeysWith: { first, _ in first })
    return candidates.enumerated().map { index, task in
      var fact = DeadlockSearch.Task(mayGoOn: true, awaited: [], thread: threadOfTask[index])
      guard task.state == .waiting else { return fact }
      switch task.dependency {
      case .continuation?: fact.mayGoOn = way(to: task, search) != nil || !isAbandoned(task.node)
      case .task(let other)?: if let other = indices[other] { (fact.mayGoOn, fact.awaited) = (false, [other]) }
      case .group(let group)?:
        if let children = children[group], !children.isEmpty { (fact.mayGoOn, fact.awaited) = (false, children) }
      case .executor?, nil: break
      }
      return fact
    }
  }

  private func way(to task: Candidate, _ search: ResumerSearch) -> ResumerSearch.Way? {
    task.isInner ? search.way(toInner: task.address) : search.way(to: task.node)
  }

  /// Returns whether nothing leads to a task, so that no code can resume it.
  private func isAbandoned(_ task: NodeID) -> Bool {
    analysis.finder.unreachable.contains(task) && analysis.finder.way(to: task) == nil
  }

  /// The code that makes tasks which begin with one function.
  private enum Maker {
    case program
    /// The runtime makes a task for each sleep.
    case runtime
    /// A library without local symbols.
    case nameless
  }

  private func maker(ofTaskBeginningAt beginning: UInt64) -> Maker {
    guard let function = names.function(at: beginning), function.kind != .user else { return .program }
    if function.mangledName == nil { return .nameless }
    let isSleep =
      Self.sleeps.matches(function.closureName.components(after: " in ")) || Self.sleeps.matches(function.function)
    return isSleep ? .runtime : .program
  }

  /// Returns those addresses that a thread's stack, registers or variables have.
  private func addressesOnThreads(_ addresses: [UInt64]) -> Set<UInt64> {
    let wanted = Set(addresses)
    var found: Set<UInt64> = []
    guard !wanted.isEmpty else { return found }
    graph.roots.forEachWordOfThreads(in: graph.image) { word in
      if wanted.contains(word & HeapImage.addressBits) { found.insert(word & HeapImage.addressBits) }
    }
    return found
  }

  // MARK: Rows

  private func key(of task: Candidate, _ search: ResumerSearch) -> Key {
    var key = Key(
      state: task.state, wait: 0, resumptions: [], beginning: graph.beginning(ofTaskAt: task.address),
      site: task.isInner ? nil : graph.heap[BlockID(task.node)].site, owner: 0, parent: nil,
      isGroupChild: isGroupChild(task.address), isCancelled: task.status?.isCancelled, priority: task.status?.priority,
      isStuck: task.isStuck, functions: task.functions, locals: graph.taskLocalKeys(of: task.address))
    if task.state == .waiting || task.state == .ready { key.resumptions = graph.resumptions(ofTaskAt: task.address) }
    switch task.dependency {
    case .continuation?: (key.wait, key.owner) = (1, owner(of: task, search))
    case .task(let other)?: key.wait = graph.beginning(ofTaskAt: other).map { $0 | 1 << 63 } ?? 2
    case .group?: key.wait = 3
    case .executor(let executor?)?:
      key.wait = graph.heap.block(containing: executor).map { UInt64(graph.nodeTypes[Int($0.rawValue)]) | 1 << 62 } ?? 4
    case .executor(nil)?: key.wait = 5
    case nil: if !relations.isKnown { key.owner = owner(of: task, search) }
    }
    key.parent = relations.parents[task.address].flatMap { graph.beginning(ofTaskAt: $0) }
    return key
  }

  /// Returns a number that is equal for tasks whose resumers have the same words.
  private func owner(of task: Candidate, _ search: ResumerSearch) -> UInt64 {
    guard let way = way(to: task, search) else { return analysis.finder.way(to: task.node) == nil ? 1 : 2 }
    var hasher = Hasher()
    hasher.combine(way.root)
    if graph.isRoot(way.owner) {
      // Without a named owner, the place of the reference in the root makes the difference.
      hasher.combine(way.first)
    } else {
      hasher.combine(graph.nodeTypes[Int(way.owner)])
      hasher.combine(way.ownerEdge.map { graph.graph.label(of: $0) })
    }
    return UInt64(bitPattern: Int64(hasher.finalize())) | 4
  }

  private func isGroupChild(_ task: UInt64) -> Bool? {
    relations.parents[task].map { _ in relations.groups[task] != nil }
  }

  private func row(of task: Candidate, _ search: ResumerSearch) -> TaskInventory.Row {
    var row = TaskInventory.Row(state: task.state)
    if task.state == .waiting || task.state == .ready {
      row.stack = names.suspendedFunctions(ofTaskAt: task.address).withoutRepetitions
    } else if task.state == .running {
      row.stack = task.functions.withoutRepetitions
    }
    row.isCancelled = task.status?.isCancelled ?? false
    row.priority = task.status?.priority
    row.function = function(ofTaskAt: task.address, row.stack)
    // A task that has not begun has no suspended function. It begins with this one.
    if task.state == .ready, row.stack.isEmpty, let function = row.function { row.stack = [function] }
    row.creator = task.isInner ? nil : names.allocation(of: task.node)
    row.parent = relations.parents[task.address].flatMap { function(ofTaskAt: $0, nil) }
    row.isGroupChild = isGroupChild(task.address)
    switch task.state == .waiting || task.state == .ready ? task.dependency : nil {
    case .continuation?: (row.wait, row.resumer) = continuation(of: task, row.stack, search)
    case .task(let other)?:
      let function = function(ofTaskAt: other, nil)
      let isChild = relations.parents[other] == task.address
      row.wait = isChild ? .child(function: function) : .task(function: function)
      row.resumer = task.isStuck ? .stuckTask : .task
    case .group?: (row.wait, row.resumer) = (.group, task.isStuck ? .stuckTask : .task)
    case .executor(let executor)?:
      row.wait = executor.flatMap(actor).map { .actor(type: $0) } ?? .executor
      row.resumer = .executor
    case nil:
      if task.state == .ready { (row.wait, row.resumer) = (.executor, .executor) }
      if !relations.isKnown { row.resumer = way(to: task, search).map { holder(over: $0) } }
    }
    return row
  }

  /// Returns the actors with tasks in their queues, the longest queue first. Linear in the tasks and in the words of
  /// threads.
  private func actors(_ candidates: [Candidate], threads: [TaskInventory.Thread]) -> [TaskInventory.Actor] {
    var queues: [UInt64: [Int]] = [:]
    for (index, task) in candidates.enumerated() where task.state == .ready {
      if case .executor(let address?)? = task.dependency { queues[address, default: []].append(index) }
    }
    let named = queues.compactMap { address, queue -> TaskInventory.Actor? in
      actor(address).map { TaskInventory.Actor(address: RuntimeAddress(address), type: $0, queue: queue) }
    }
    let occupants = ActorOccupants(graph, threads)
    return named.map { actor in
      var actor = actor
      actor.thread = occupants.thread(of: actor)
      return actor
    }.sorted { ($1.queue.count, $0.address.rawValue) < ($0.queue.count, $1.address.rawValue) }
  }

  private func actor(_ address: UInt64) -> String? {
    guard let block = graph.heap.block(containing: address) else {
      // The main actor is a variable of the runtime.
      return graph.roots.isImage(address) ? TaskInventory.mainActor : nil
    }
    let type = graph.type(of: block.rawValue)
    if type.name == Self.mainExecutor { return TaskInventory.mainActor }
    return type.kind == .object ? type.name : nil
  }

  /// The executor of the main actor since Swift 6.2.
  private static let mainExecutor = "DispatchMainExecutor"

  private func continuation(
    of task: Candidate, _ stack: [SourceFrame], _ search: ResumerSearch
  ) -> (TaskInventory.Wait, TaskInventory.Resumer) {
    let inner = stack.prefix { $0.kind != .user }
    if inner.contains(where: { Self.sleeps.matches($0.function) }) { return (.sleep, .timer) }
    // Without local symbols, the runtime's functions have no names. Then the timer shows the sleep.
    if inner.contains(where: { $0.mangledName == nil }), timers.bySleeper[task.address] != nil {
      return (.sleep, .timer)
    }
    let isStream = inner.contains { frame in Self.streams.contains { frame.function.hasPrefix($0) } }
    let wait: TaskInventory.Wait = isStream ? .stream : .continuation
    guard let way = way(to: task, search) else {
      return (wait, isAbandoned(task.node) ? .noCode : .possibly)
    }
    return (wait, holder(over: way))
  }

  private func holder(over way: ResumerSearch.Way) -> TaskInventory.Resumer {
    let origin = names.origin(way.root, target: way.first).name
    guard !graph.isRoot(way.owner) else { return .holder(name: origin, origin: origin) }
    let type = graph.type(of: way.owner)
    if type.kind == .task {
      let function = function(ofTaskAt: graph.heap[BlockID(way.owner)].address, nil)
      return .holder(name: function.map { "a task of \($0.closureName)" } ?? "a task", origin: origin)
    }
    let field = way.ownerEdge.flatMap { graph.label(graph.graph.label(of: $0))?.name } ?? ""
    let name = field.isEmpty || field.hasPrefix("[") ? type.name : "\(type.name).\(field)"
    return .holder(name: name, origin: origin)
  }

  /// Returns the function that a task began with. A task's first function may be a thunk. Then it is the outermost
  /// function of the program on the task's stack, or the function that the thunk calls.
  private func function(ofTaskAt address: UInt64, _ stack: [SourceFrame]?) -> SourceFrame? {
    if let frame = graph.beginning(ofTaskAt: address).flatMap(names.function), frame.kind == .user,
      !names.isThunk(frame)
    {
      return frame
    }
    if let outermost = (stack ?? names.suspendedFunctions(ofTaskAt: address)).last(where: { $0.kind == .user }) {
      return outermost
    }
    return graph.closureFunctions(ofTaskAt: address).lazy.compactMap(names.function)
      .first { $0.kind == .user && !names.isThunk($0) }
  }
}

/// The timers of sleeping tasks. They are searched when they are first needed.
private final class SleepTimers {
  private let graph: ObjectGraph
  /// By the address of the sleeping task.
  private(set) lazy var bySleeper = graph.taskTimers()
  /// The addresses of the tasks that the runtime made for the sleeps.
  private(set) lazy var runtimeTasks = Set(bySleeper.values.map(\.runtimeTask))

  init(_ graph: ObjectGraph) { self.graph = graph }
}

extension [SourceFrame] {
  /// The frames without those that name the same function and line as the frame before. The optimiser makes such frames
  /// from the functions that it inlines.
  fileprivate var withoutRepetitions: [SourceFrame] {
    var kept: [SourceFrame] = []
    for frame in self {
      if let last = kept.last, last.closureName == frame.closureName, last.position == frame.position { continue }
      kept.append(frame)
    }
    return kept
  }
}

extension TaskInventory.Row {
  /// The order of rows with equally many tasks.
  fileprivate var order: String {
    [state.rawValue, stack.first { $0.kind == .user }?.function ?? "", function?.function ?? ""].joined(separator: "\n")
  }
}

extension String {
  /// Returns the text after the last occurrence of a separator; the whole text if there is none.
  fileprivate func components(after separator: String) -> String {
    var rest = Substring(self)
    while let index = rest.firstRange(of: separator) { rest = rest[index.upperBound...] }
    return String(rest)
  }
}
