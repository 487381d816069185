// Finds threads and tasks that wait for one another.

import HeapAnalysis

/// Finds the tasks and threads that can never go on.
///
/// A thread is stuck if it waits for itself over locks or queues of other threads. A task is stuck if no code can resume
/// it, if it waits for the end of a stuck task, if it waits for a group whose children are all stuck, or if a stuck
/// thread runs it. All other tasks may go on.
struct DeadlockSearch {
  /// The facts of a task that decide.
  struct Task {
    /// True if the task waits for nothing, or for something else than the end of a task.
    var mayGoOn: Bool
    /// The tasks whose end the task waits for. One of them is enough.
    var awaited: [Int]
    /// The index of the thread that runs the task.
    var thread: Int?
  }

  private(set) var deadlocks: [TaskInventory.Deadlock] = []
  /// The indices of the stuck tasks.
  private(set) var stuck: Set<Int> = []

  /// Linear in the tasks, their awaited tasks, and the threads.
  init(_ tasks: [Task], threads: [TaskInventory.Thread]) {
    let stuckThreads = findThreads(threads)
    var isLive = [Bool](repeating: false, count: tasks.count)
    var waiters: [Int: [Int]] = [:]
    var pending: [Int] = []
    for (index, task) in tasks.enumerated() {
      for other in task.awaited { waiters[other, default: []].append(index) }
      guard task.mayGoOn, task.thread.map({ !stuckThreads.contains($0) }) ?? true else { continue }
      isLive[index] = true
      pending.append(index)
    }
    while let task = pending.popLast() {
      for waiter in waiters[task] ?? [] where !isLive[waiter] {
        isLive[waiter] = true
        pending.append(waiter)
      }
    }
    stuck = Set(tasks.indices.filter { !isLive[$0] })
    findTasks(tasks)
  }

  /// Returns the threads that cannot go on, and adds the deadlocks of threads. Each thread waits for at most one other
  /// thread.
  private mutating func findThreads(_ threads: [TaskInventory.Thread]) -> Set<Int> {
    var states = [Int](repeating: 0, count: threads.count)  // 0: not visited; otherwise the number of the walk
    var stuck: Set<Int> = []
    for start in threads.indices where states[start] == 0 {
      let walk = start + 1
      var path: [Int] = []
      var current: Int? = start
      while let thread = current, states[thread] == 0 {
        states[thread] = walk
        path.append(thread)
        current = threads[thread].owner
      }
      guard let end = current else { continue }
      if states[end] == walk, let first = path.firstIndex(of: end) {
        deadlocks.append(TaskInventory.Deadlock(threads: Array(path[first...])))
        stuck.formUnion(path)
      } else if stuck.contains(end) {
        stuck.formUnion(path)
      }
    }
    return stuck
  }

  /// Adds the deadlocks of tasks: the circles among stuck tasks. A stuck task that waits for a circle is in none.
  private mutating func findTasks(_ tasks: [Task]) {
    // A stuck task outside of all circles has no awaited stuck task, or is awaited by no task of its own circle. So
    // tasks without awaited stuck tasks are removed one by one, in both directions.
    var members = stuck.filter { !tasks[$0].awaited.isEmpty }
    func prune(_ next: (Int) -> [Int]) {
      var counts: [Int: Int] = [:]
      var sources: [Int: [Int]] = [:]
      for task in members {
        let others = next(task).filter(members.contains)
        counts[task] = others.count
        for other in others { sources[other, default: []].append(task) }
      }
      var pending = members.filter { counts[$0] == 0 }
      while let task = pending.popFirst() {
        members.remove(task)
        for source in sources[task] ?? [] {
          counts[source, default: 0] -= 1
          if counts[source] == 0 { pending.insert(source) }
        }
      }
    }
    prune { tasks[$0].awaited }
    var waiters: [Int: [Int]] = [:]
    for task in members { for other in tasks[task].awaited { waiters[other, default: []].append(task) } }
    prune { waiters[$0] ?? [] }
    // The rest consists of circles, and of tasks between circles. Tasks that are linked form one deadlock.
    var seen: Set<Int> = []
    for start in members.sorted() where seen.insert(start).inserted {
      var linked = [start]
      var pending = [start]
      while let task = pending.popLast() {
        for other in tasks[task].awaited + (waiters[task] ?? [])
        where members.contains(other) && seen.insert(other).inserted {
          linked.append(other)
          pending.append(other)
        }
      }
      deadlocks.append(TaskInventory.Deadlock(tasks: linked.sorted()))
    }
  }
}
