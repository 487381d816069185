// Finds tasks that began their present wait soon after their start.

import HeapAnalysis

/// Work that was under way when the image was taken: tasks in their first sleep whose time has not come yet, and the
/// objects in their frames. A request that waits for a slow answer lives longer than all others, but is in use. A task
/// that runs for ever and wakes up now and then began its present sleep long after its start.
///
/// The judgement is wrong about tasks that no code waits for, and that sleep longer than the program runs.
///
/// A sleep is a call of `dispatch_after`. By this call, the runtime runs a task of its own, which has the continuation
/// of the sleeping task. Seen with Swift 6.1.2 and 6.3.1. Source: swiftlang/swift,
/// stdlib/public/Concurrency/TaskSleep.swift and DispatchGlobalExecutor.cpp.
///
/// For one thread at a time.
final class WaitingTasks {
  private let graph: ObjectGraph
  private let isTimer: (NodeID) -> Bool
  private let isJob: (NodeID) -> Bool
  /// Returns whether a task's functions come back to the task's present suspension. Nil if their code does not show it.
  let isInLoop: (NodeID) -> Bool?
  /// Returns whether one of the functions that a task is suspended in is a sleep. The time of the sleep may be over.
  let isInSleep: (NodeID) -> Bool
  /// Returns how many sleeps have ended in the function that a task is suspended in.
  let endedSleeps: (NodeID) -> UInt64
  private let minFirstWait: Double
  /// By task: the beginning of the wait.
  private var waits: [NodeID: UInt64] = [:]
  /// By sleeping task: the task that the runtime made for the present sleep.
  private var sleeps: [NodeID: NodeID] = [:]
  /// By object or closure: a task that has it in its frames, or whose closures captured it.
  private var users: [NodeID: NodeID] = [:]
  private var isSearched = false
  private lazy var handles = TaskHandles.owners(in: graph)

  /// Maximum number of references from a timer to a task that it wakes.
  private static let depthLimit = 12

  /// - Parameter minFirstWait: see `SurvivorRules.minFirstWait`.
  /// - Parameter isTimer: whether a block belongs to a call of `dispatch_after`.
  /// - Parameter isJob: whether a node is work that a library is about to run.
  /// - Parameter isInLoop: whether a task's functions come back to the task's present suspension; nil if that is not
  ///   known.
  /// - Parameter isInSleep: whether one of the functions that a task is suspended in is a sleep.
  /// - Parameter endedSleeps: how many sleeps have ended in the function that a task is suspended in.
  init(
    _ graph: ObjectGraph, minFirstWait: Double, isTimer: @escaping (NodeID) -> Bool,
    isJob: @escaping (NodeID) -> Bool, isInLoop: @escaping (NodeID) -> Bool?,
    isInSleep: @escaping (NodeID) -> Bool, endedSleeps: @escaping (NodeID) -> UInt64
  ) {
    (self.graph, self.minFirstWait) = (graph, minFirstWait)
    (self.isTimer, self.isJob, self.isInLoop, self.isInSleep) = (isTimer, isJob, isInLoop, isInSleep)
    self.endedSleeps = endedSleeps
  }

  /// Finds all waits. Linear in the blocks, and in the references of tasks.
  private func search() {
    isSearched = true
    guard (0..<NodeID(graph.blockCount)).contains(where: { graph.type(of: $0).kind == .task }) else { return }
    for node in 0..<NodeID(graph.blockCount)
    where graph.type(of: node).kind == .malloc && graph.taskOfSlab[node] == nil && isTimer(node) { follow(node) }
    guard !waits.isEmpty else { return }
    /// Records the objects in a task's frames, and the objects that closures there captured.
    func note(_ owner: NodeID, _ task: NodeID) {
      var owners = [owner]
      while let owner = owners.popLast() {
        for edge in graph.graph.edges(from: owner) {
          let target = graph.graph.target(of: edge)
          guard !graph.isRoot(target), users[target] == nil else { continue }
          let kind = graph.type(of: target).kind
          guard kind.isCounted, kind != .task else { continue }
          users[target] = task
          if kind == .closure || kind == .box { owners.append(target) }
        }
      }
    }
    // If several tasks have an object, the oldest is its user.
    let tasks = waits.keys.sorted { (birth($0), $0) < (birth($1), $1) }
    let slabs = Dictionary(grouping: graph.taskOfSlab.keys.sorted()) { graph.taskOfSlab[$0] }
    for task in tasks {
      note(task, task)
      for slab in slabs[task] ?? [] { note(slab, task) }
    }
  }

  /// A block on the path from a timer to a task.
  private struct Step {
    var node: NodeID
    var began: UInt64
    var taskCount: Int
    /// The first task on the path.
    var sleep: NodeID?

    func next(_ node: NodeID, _ birth: UInt64, sleep: NodeID?, taskCount: Int) -> Step {
      Step(node: node, began: max(began, birth), taskCount: taskCount, sleep: sleep)
    }
  }

  private func birth(_ node: NodeID) -> UInt64 { graph.heap[BlockID(node)].birthTime }

  /// Finds the tasks that a timer wakes. It follows blocks of libraries, the task that the runtime made for the sleep,
  /// the captures of that task's closure, and tasks that wait for others. It never follows the fields of an object.
  private func follow(_ timer: NodeID) {
    var seen: Set<NodeID> = [timer]
    // Tasks on the path: the runtime's own task comes first, then the sleeping task.
    var layer: [Step] = [Step(node: timer, began: birth(timer), taskCount: 0)]
    for _ in 0..<Self.depthLimit where !layer.isEmpty {
      var next: [Step] = []
      for step in layer {
        let (node, began, taskCount) = (step.node, step.began, step.taskCount)
        for edge in graph.graph.edges(from: node)
        where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
          let target = graph.graph.target(of: edge)
          // The frames of the sleeping task may have other tasks, which do not wait for it.
          if taskCount > 1, graph.graph.kind(of: edge) != EdgeStrength.taskLink.rawValue { continue }
          guard !graph.isRoot(target), graph.taskOfSlab[target] == nil, seen.insert(target).inserted else { continue }
          switch graph.type(of: target).kind {
          case .task:
            waits[target] = max(waits[target] ?? 0, began)
            if let sleep = step.sleep { sleeps[target] = sleep }
            next.append(step.next(target, birth(target), sleep: step.sleep ?? target, taskCount: taskCount + 1))
          case .malloc, .closure, .box:
            next.append(step.next(target, birth(target), sleep: step.sleep, taskCount: taskCount))
          default: continue
          }
        }
      }
      layer = next
    }
  }

  /// Returns whether a node is a sleeping task, or an object in the frames of one.
  func isAsleep(_ node: NodeID) -> Bool { sleeper(node) != nil }

  private func sleeper(_ node: NodeID) -> (task: NodeID, began: UInt64)? {
    if !isSearched { search() }
    guard let task = waits[node] != nil ? node : users[node], let began = waits[task] else { return nil }
    return (task, began)
  }

  /// Returns whether a task has been in its present sleep for most of its life. For an object in the task's frames, the
  /// life of the object counts. A busy machine starts a task long after it was made. That delay says nothing about
  /// objects that the task made just before its sleep.
  func isUnderWay(_ node: NodeID) -> Bool {
    guard let (task, began) = sleeper(node) else { return false }
    let now = graph.snapshot.time
    let age = now - min(now, max(birth(task), birth(node)))
    // An inspection does not know any births.
    guard age > 0 else { return false }
    return Double(now - min(now, began)) >= minFirstWait * Double(age)
  }

  /// Returns the task that the runtime made for a task's present sleep; nil if the task does not sleep.
  func sleep(of task: NodeID) -> NodeID? {
    if !isSearched { search() }
    return sleeps[task]
  }

  /// Returns whether a job that a library is about to run resumes the task, or leads to an object that resumes it.
  func isAboutToGoOn(_ task: NodeID) -> Bool { tasksOfJobs.contains(task) }

  /// Linear in the blocks, and in the nodes that jobs lead to through closures and continuations.
  private lazy var tasksOfJobs: Set<NodeID> = {
    var tasks: Set<NodeID> = []
    var layer = (0..<NodeID(graph.blockCount)).filter(isJob)
    var seen = Set(layer)
    for _ in 0..<Self.depthLimit where !layer.isEmpty {
      let targets = layer.flatMap { graph.graph.edges(from: $0) }.filter {
        ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: $0)))
      }.map { graph.graph.target(of: $0) }
      layer = targets.filter { !graph.isRoot($0) && graph.taskOfSlab[$0] == nil && seen.insert($0).inserted }
      tasks.formUnion(layer.filter { graph.type(of: $0).kind == .task })
      layer.removeAll { node in
        switch graph.type(of: node).kind {
        case .malloc, .closure, .box: false
        case .object: !Registrations.resumes(type: graph.type(of: node).qualifiedName)
        default: true
        }
      }
    }
    return tasks
  }()

  /// The objects and variables that have the handle of a task.
  func handleOwners(of task: NodeID) -> [NodeID] { handles[task] ?? [] }
}
