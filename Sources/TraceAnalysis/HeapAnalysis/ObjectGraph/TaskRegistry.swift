// The lists where newer Swift runtimes link all tasks for debuggers.

/// The addresses of a runtime's lists of all tasks. The lists own nothing. Unless they are recognised, every task looks
/// reachable.
///
/// An exported variable contains 64 list heads, 64 bytes apart. Each task has two words for its list: the next task and
/// the previous one. The offset of these words in a task is not exported, so this type derives it from the lists.
///
/// Source: swiftlang/swift, stdlib/public/Concurrency/TaskRegistry.h and TaskPrivate.h, of the pull request 90547;
/// after Swift 6.3.
struct TaskRegistry {
  static let variable = "_swift_concurrency_task_registry"
  static let headCount: UInt64 = 64
  static let headStride: UInt64 = 64
  /// The links are in the runtime's private part, after a task's header and before its frames.
  private static let linkOffsets = stride(from: 64 as UInt64, to: 512, by: 8)

  /// Addresses of the lists' heads.
  let heads: Set<UInt64>
  /// Addresses of the words that link tasks.
  private(set) var links: Set<UInt64> = []
  /// True if the lists have tasks, but the offset of their links cannot be determined.
  private(set) var isUnknown = false

  /// - Parameters:
  ///   - variables: the addresses of the exported variable, one for each runtime of the process.
  ///   - isTask: returns whether a task is at an address, in its own block or among the frames of the task that made
  ///     it.
  ///   - taskCount: the number of tasks with blocks of their own.
  ///
  /// Linear in the tasks, times the offsets that may link them.
  init(variables: [UInt64], image: HeapImage, isTask: (UInt64) -> Bool, taskCount: Int) {
    var heads: Set<UInt64> = []
    for variable in variables where variable <= UInt64.max - Self.headCount * Self.headStride {
      for index in 0..<Self.headCount { heads.insert(variable + index * Self.headStride) }
    }
    self.heads = heads
    let firsts = heads.compactMap { image.word(at: $0) }.filter(isTask).sorted()
    guard !firsts.isEmpty else { return }
    /// Returns the number of tasks in all lists, without the first task of each list, on the assumption that the links
    /// are at the given offset. Nil if the words there contradict the assumption.
    func followers(_ offset: UInt64) -> Int? {
      var count = 0
      var seen: Set<UInt64> = []
      for first in firsts {
        // The first task has no previous task.
        guard image.word(at: first &+ offset &+ 8) == nil else { return nil }
        var current = first
        while let next = image.word(at: current &+ offset) {
          guard seen.insert(current).inserted, isTask(next), image.word(at: next &+ offset &+ 8) == current else {
            return nil
          }
          count += 1
          current = next
        }
      }
      return count
    }
    let fitting = Self.linkOffsets.filter { (followers($0) ?? 0) > 0 }
    guard let offset = fitting.first, fitting.count == 1 else {
      isUnknown = fitting.count > 1 || taskCount > firsts.count
      return
    }
    for first in firsts {
      var current: UInt64? = first
      while let task = current {
        links.insert(task &+ offset)
        links.insert(task &+ offset &+ 8)
        current = image.word(at: task &+ offset)
      }
    }
  }

  static let remark =
    "the Swift runtime of the program links its tasks in a way that is not known: tasks that nothing can resume may look as if others held them"
}
