// All tasks of a heap image: their states, the functions that they wait in, and the ways to resume them.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The tasks of a heap image, the threads that run tasks, and deadlocks. Tasks that wait at one line for one thing share
/// a row.
///
/// Tasks that the runtime makes for itself, for example for a sleep, are not included. Immutable.
package struct TaskInventory: Sendable {
  package enum State: String, CaseIterable, Codable, Sendable {
    /// A thread runs the task.
    case running
    /// The task is in the queue of an executor, or has not begun.
    case ready
    /// The task is suspended.
    case waiting
    /// The function of the task has returned. Only its result may still be read.
    case finished
    /// The image does not show the state.
    case unknown
  }

  /// The thing that a waiting or ready task waits for.
  package enum Wait: Hashable, Sendable {
    /// A continuation that code has to resume.
    case continuation
    /// The end of a sleep.
    case sleep
    /// The next element of an `AsyncStream`.
    case stream
    /// The end of another task. `function`: where that task began.
    case task(function: SourceFrame?)
    /// The end of an `async let` child. `function`: where the child began.
    case child(function: SourceFrame?)
    /// The end of a child of a group.
    case group
    /// A turn on an actor. `type`: the name of the actor's type.
    case actor(type: String)
    /// A thread of the global executor.
    case executor

    /// The word of JSON, profiles and databases.
    package var key: String {
      switch self {
      case .continuation: "continuation"
      case .sleep: "sleep"
      case .stream: "stream"
      case .task: "task"
      case .child: "child"
      case .group: "group"
      case .actor: "actor"
      case .executor: "executor"
      }
    }
  }

  /// The code or event that can resume a waiting task.
  package enum Resumer: Hashable, Sendable {
    /// An object or a variable leads to the task's continuation. `name` is the nearest named holder, and `origin` the
    /// root that keeps the holder.
    case holder(name: String, origin: String)
    /// No reference leads to the continuation, so no code can resume the task.
    case noCode
    /// Nothing keeps the continuation, but a number or a weak reference leads to it.
    case possibly
    /// The end of the awaited task, or of a child.
    case task
    /// The end of a task that never ends: it belongs to a deadlock, or no code can resume it.
    case stuckTask
    /// A timer.
    case timer
    /// An executor, which has the task in its queue.
    case executor

    /// The word of JSON, profiles and databases.
    package var key: String {
      switch self {
      case .holder: "holder"
      case .noCode: "noCode"
      case .possibly: "possibly"
      case .task: "task"
      case .stuckTask: "stuckTask"
      case .timer: "timer"
      case .executor: "executor"
      }
    }
  }

  /// Tasks that have equal states, functions, creators and resumers.
  package struct Row: Sendable {
    package var state: State
    package var wait: Wait?
    package var resumer: Resumer?
    /// The functions that the tasks are suspended in, innermost first. Empty for running and new tasks.
    package var stack: [SourceFrame] = []
    /// The function that the tasks began with; nil if it is unknown.
    package var function: SourceFrame?
    /// The function that made the tasks; nil if the trace does not have it.
    package var creator: SourceFrame?
    /// The function of the parent; nil for tasks without a parent.
    package var parent: SourceFrame?
    /// True for children of a group, false for children of an `async let`; nil for tasks without a parent.
    package var isGroupChild: Bool?
    /// True if the tasks have been cancelled.
    package var isCancelled = false
    /// The priority of the tasks, for example 21 for the default; nil if it is unknown.
    package var priority: UInt8?
    package var count = 0
    /// The names of the tasks, without repetitions, in order of their addresses.
    package var names: [String] = []
    /// The keys of the task-local values that all of the tasks have.
    package var locals: [TaskLocalKey] = []
    /// Bytes of the tasks and of their functions' frames.
    package var bytes: UInt64 = 0
    /// Bytes that would be freed with the tasks. A task may keep blocks that another one keeps, too. Such blocks do not
    /// count.
    package var retainedBytes: UInt64 = 0
    /// Seconds that the sleeps of the tasks still take; nil if that is not known of any task. Negative if a sleep is over
    /// and its timer has not fired yet.
    package var sleepLeft: ClosedRange<Double>?
    /// Ages of the oldest and of the youngest task, in seconds; nil if the image lacks the times of allocations.
    package var ages: ClosedRange<Double>?

    /// True if the tasks wait, and never end: no code can resume them, or they wait for a task that never ends.
    package var isLeaked: Bool { resumer == .noCode || resumer == .stuckTask }
  }

  /// The key of a task-local value.
  package struct TaskLocalKey: Hashable, Sendable {
    /// The variable, such as `Request.id`; nil if no variable leads to the key.
    package var variable: String?
    /// The type of the key, such as `TaskLocal<Int>`.
    package var type: String
  }

  package struct Task: Sendable {
    package var address: RuntimeAddress
    /// The name that the program gave the task; nil if it gave none.
    package var name: String?
    /// The index of the task's row.
    package var row: Int
    /// The index of the task's parent; nil if it has none.
    package var parent: Int?
    /// The group that the task is a child of; nil if it is none.
    package var group: RuntimeAddress?
    /// In seconds; nil if the image lacks the time of the allocation.
    package var age: Double?
    /// The timer that ends the task's sleep; nil if the task does not sleep, or if the image does not show the timer.
    package var timer: TaskTimer?
    /// Seconds until the timer fires; nil if that is not known.
    package var sleepLeft: Double?
  }

  /// A thread that runs a task, waits for a lock, or holds a lock that another thread waits for.
  package struct Thread: Sendable {
    /// The kernel's number.
    package var number: UInt32
    /// For example, `thread 4711 of libdispatch`.
    package var name: String
    /// The index of the task that the thread runs; nil if it runs none, or if that is unknown.
    package var task: Int?
    /// The call that the thread is blocked in; nil if it is not blocked.
    package var call: BlockingCall?
    /// The index of the thread that has to act before the call returns; nil if it is unknown.
    package var owner: Int?
    /// The program's functions on the thread's stack, innermost first.
    package var functions: [SourceFrame]
    /// True if the thread belongs to the pool that runs tasks.
    package var isOfPool: Bool
    package var isMain = false
    /// The queue of the runtime that the thread takes its jobs from; nil if it is unknown.
    package var queue: RuntimeAddress?
    /// The most jobs that the queue runs at a time, if it runs as many; otherwise nil.
    package var queueLimit: Int?
  }

  /// Threads or tasks that wait for one another. None of them can go on.
  package struct Deadlock: Sendable {
    /// The indices of the threads, each before the thread that it waits for. Empty if tasks wait for one another.
    package var threads: [Int] = []
    /// The indices of the tasks. Empty if threads wait for one another.
    package var tasks: [Int] = []
  }

  /// An actor whose queue has tasks.
  package struct Actor: Sendable {
    /// The actor's address. It identifies the actor in other heap images of the process.
    package var address: RuntimeAddress
    /// The name of the actor's type.
    package var type: String
    /// The indices of the tasks in the queue, in order of their addresses.
    package var queue: [Int]
    /// The index of the thread that runs code of the actor; nil if the image does not show it.
    package var thread: Int?
    /// The queue in an earlier heap image; nil if there is none to compare with.
    package var earlier: EarlierQueue?

    /// True if tasks came to the queue, and the queue became longer by many of them.
    package var grows: Bool {
      guard let earlier else { return false }
      return queue.count - earlier.count >= Self.minGrowth
    }
    /// Minimum number of tasks for growth. Fewer tasks may be a short burst.
    package static let minGrowth = 8
  }

  /// The queue of an actor in an earlier heap image.
  package struct EarlierQueue: Sendable {
    /// Seconds before the heap image of the inventory; nil if that is not known.
    package var seconds: Double?
    /// The number of tasks in the queue then, and the number of them that have left it since.
    package var count: Int
    package var left: Int
  }

  /// The rows, in descending order of tasks.
  package internal(set) var rows: [Row] = []
  /// In ascending order of addresses.
  package internal(set) var tasks: [Task] = []
  package internal(set) var threads: [Thread] = []
  package internal(set) var deadlocks: [Deadlock] = []
  /// The actors with tasks in their queues, the longest queue first.
  package internal(set) var actors: [Actor] = []
  /// The reason why the states are unknown; nil if they are known.
  package internal(set) var obstacle: String?

  /// The number of tasks in a state.
  package func count(of state: State) -> Int { rows.reduce(0) { $0 + ($1.state == state ? $1.count : 0) } }

  /// True if tasks cannot run because blocked threads have all places of their queue.
  package var isStarved: Bool { !starvation.isEmpty }

  /// A queue of the runtime that runs as many jobs as it may, all of them on blocked threads. Tasks in the queue cannot
  /// run until one of the threads goes on.
  package struct Starvation: Sendable {
    /// The indices of the blocked threads.
    package var threads: [Int]
    /// The number of ready tasks that need a place in the queue.
    package var waiting: Int
  }

  /// The queues whose tasks cannot run. The runtime has a queue for each priority, and each queue has a limit of its
  /// own. The heap image shows the limit and the number of running jobs, so the number of processors does not matter.
  package var starvation: [Starvation] {
    let blocked = threads.indices.filter { threads[$0].isOfPool && threads[$0].call != nil && threads[$0].queue != nil }
    let queues = Dictionary(grouping: blocked) { threads[$0].queue ?? RuntimeAddress(0) }
    return queues.values.compactMap { members -> Starvation? in
      guard let limit = threads[members[0]].queueLimit, members.count == limit else { return nil }
      let priorities = Set(members.compactMap { threads[$0].task.flatMap { rows[tasks[$0].row].priority } })
      let waiting = rows.reduce(0) { sum, row in
        let isThere = row.state == .ready && row.wait == .executor && row.priority.map(priorities.contains) ?? false
        return sum + (isThere ? row.count : 0)
      }
      return waiting > 0 ? Starvation(threads: members, waiting: waiting) : nil
    }.sorted { ($1.waiting, $0.threads[0]) < ($0.waiting, $1.threads[0]) }
  }

  static let mainActor = "MainActor"
}
