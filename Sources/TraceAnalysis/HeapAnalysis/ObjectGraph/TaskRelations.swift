// How the tasks of a heap image depend on one another.

/// The thing that a suspended or queued task waits for.
package enum TaskDependency: Hashable, Sendable {
  /// A continuation.
  case continuation
  /// The end of the task at this address.
  case task(UInt64)
  /// The end of a child of the group at this address.
  case group(UInt64)
  /// A turn on an executor. The address is the object of the executor, for example an actor. It is nil for the global
  /// executor.
  case executor(UInt64?)
}

/// The dependencies, parents and groups of tasks, by the address of each task.
///
/// Empty if the layout of the runtime's tasks is unknown, or if threads ran while the image was taken. `TaskWaits` has
/// the places in memory and their source.
package struct TaskRelations: Sendable {
  /// The dependency of each task that is suspended or in a queue. A running, a finished and a new task have none.
  package internal(set) var dependencies: [UInt64: TaskDependency] = [:]
  /// The parent of each child.
  package internal(set) var parents: [UInt64: UInt64] = [:]
  /// The group of each child that a group has. Other children belong to an `async let`.
  package internal(set) var groups: [UInt64: UInt64] = [:]
  /// The tasks whose function has returned.
  package internal(set) var finished: Set<UInt64> = []
  /// The tasks that have no block of their own, because they are among the frames of their parent. In ascending order.
  package internal(set) var inner: [UInt64] = []
  /// How the layout of the runtime's tasks differs from the known ones, without a full stop. Nil if the layout is known,
  /// or if the process has no tasks.
  package internal(set) var unknownLayout: String?
  /// True if the relations were read.
  package internal(set) var isKnown = false

  /// Returns the address of a task and the addresses of the tasks above it, innermost first. A damaged image may have a
  /// task among its own parents, so each task comes once.
  package func withParents(of task: UInt64) -> [UInt64] {
    var found = [task]
    while found.count < Self.depthLimit, let parent = parents[found[found.count - 1]], !found.contains(parent) {
      found.append(parent)
    }
    return found
  }

  /// Maximum number of tasks that are followed from a child to its parents. A recursive function may nest thousands.
  private static let depthLimit = 64
}
