// Finds what each suspended task waits for, by the runtime's record of the wait.

import CHeapScan
import TraceReading

/// The state of a task in a heap image.
package enum TaskState: Hashable, Sendable {
  /// The task's function has returned. Only its result may still be read.
  case finished
  case waiting(TaskWait)
}

/// The event that a suspended task waits for.
package enum TaskWait: String, Codable, Hashable, Sendable {
  /// A continuation. Any code that has the task's address can resume it.
  case continuation
  /// The end of another task, or of a group's child. That end resumes the task.
  case end
}

/// Distinguishes words that can resume a suspended task from words that are left over.
///
/// A task that is suspended or queued has a record of its wait. The record lies among the task's own frames, and the
/// runtime's private part of the task has the record's address. The record identifies the awaited thing: a
/// continuation, another task, a group of children, or an executor. This allows two conclusions:
///
/// - A task that waits for anything but an executor is in no executor's queue, so its links are left over.
/// - A task that waits for the end of a task or of a group's child has no continuation. A word that leads to such a
///   task is a handle, or left over.
///
/// The runtime makes the record after it suspends the task, and before any other code can learn of the suspension. The
/// runtime changes the record before it puts the task into a queue. A thread that resumes the tasks in the waiting list
/// of an ended task first removes them from that list. So the conclusions hold for a heap image taken between any two
/// instructions.
///
/// Byte offsets in a task: 64 the context that it resumes with, 104 its innermost status record, 112 the last
/// allocation of a frame, 160 the record of its wait. The record of the wait is also the innermost status record and
/// the last allocation. Byte offsets in the record: 8 the next outer record, 16 the awaited thing, 40 the task. The
/// heap image holds no plain numbers, so the awaited thing shows the kind of wait: it is the task's own context, a
/// task, or a group. Byte offsets in a group: 0 its table of functions, 88 the task that waits for a child. The status
/// records for a group and for child tasks have the children from 16 on.
///
/// A parent cancels its children through a list. The parent's record leads to the first child and, for a group, to the
/// last child. A child has two words: its parent, and the next child. None of these words resumes a child that waits
/// for a continuation and has no cancellation handler.
///
/// Source: swiftlang/swift, include/swift/ABI/TaskStatus.h (TaskDependencyStatusRecord),
/// stdlib/public/Concurrency/TaskPrivate.h (flagAsSuspended, flagAsAndEnqueueOnExecutor), Task.cpp (waitFuture,
/// completeFuture) and TaskGroup.cpp; seen with Swift 6.0.3 and 6.3.1. In a runtime with another layout the words do
/// not lead to one another, and this type concludes nothing.
struct TaskWaits {
  /// What each suspended task waits for, by the task's address. Includes only tasks whose record and awaited thing
  /// agree.
  private(set) var waits: [UInt64: TaskWait] = [:]
  /// The address of the record of each task's wait, by the task's address.
  private(set) var records: [UInt64: UInt64] = [:]
  /// Addresses of tasks that have a status record besides the record of their wait. These tasks or their children may
  /// react to a cancellation.
  private(set) var hearing: Set<UInt64> = []
  /// Addresses of queue links that are left over.
  private(set) var leftOverLinks: Set<UInt64> = []
  /// Addresses of the words through which a task's end resumes other tasks, and of the words that pass a cancellation
  /// on to a task.
  private(set) var used: Set<UInt64> = []
  /// Addresses of the words that link children: to the first child, to the last, and from each child to the next.
  private(set) var childLinks: Set<UInt64> = []
  /// Addresses of tasks that have finished.
  var finished: Set<UInt64> = []
  /// The thing that each suspended or queued task waits for, by the task's address.
  private(set) var dependencies: [UInt64: TaskDependency] = [:]
  /// The parent of each child, by the child's address.
  private(set) var parents: [UInt64: UInt64] = [:]
  /// The group of each child of a group, by the child's address.
  private(set) var groups: [UInt64: UInt64] = [:]

  private static let contextOffset: UInt64 = 64
  static let statusRecordOffset: UInt64 = 104
  private static let lastAllocationOffset: UInt64 = 112
  private static let recordOffset: UInt64 = 160
  /// These offsets count from the start of a status record.
  private static let outerOffset: UInt64 = 8
  private static let subjectOffset: UInt64 = 16
  private static let waitingTaskOffset: UInt64 = 40
  static let recordSize: UInt64 = 48
  /// Bytes from an allocation back to its header.
  private static let allocationHeaderSize = UInt64(SWIFT_SLAB_ALLOCATION_HEADER)
  /// These offsets count from the start of a group.
  private static let groupRecordOffset: UInt64 = 8
  private static let groupWaiterOffset: UInt64 = 88
  /// A future begins at one of these offsets in a task. It follows the header and, if present, the words for a parent
  /// and a group.
  private static let futures = stride(from: InitialTaskMemory.minHeaderSize, through: 248, by: 8)
  /// The word of a child that leads to its parent is at one of these offsets.
  private static let parents = stride(from: InitialTaskMemory.minHeaderSize, through: headerEnd - 8, by: 8)
  /// Only the runtime writes words of a task before this offset.
  static let headerEnd: UInt64 = 272
  /// The lowest bits of a word that leads to a task. They may hold the state of a future.
  private static let stateBits: UInt64 = 7
  private static let recordLimit = 1 << 12

  /// Makes an empty value, without any task.
  init() {}

  /// - Parameters:
  ///   - tasks: addresses of tasks of a known layout, in their own blocks or among the frames of other tasks.
  ///   - isTask: returns whether a task is at an address.
  ///   - isImage: returns whether an address lies in a loaded image.
  ///
  /// Linear in the tasks and their status records.
  init(
    tasks: some Sequence<UInt64>, image: HeapImage, isTask: (UInt64) -> Bool, isImage: (UInt64) -> Bool
  ) {
    var waiting: [UInt64: Set<UInt64>] = [:]
    for task in tasks {
      let count = addStatusRecords(of: task, image)
      if count > 0 { hearing.insert(task) }
      guard let record = image.word(at: task &+ Self.recordOffset), record & 15 == 0,
        image.word(at: task &+ Self.statusRecordOffset) == record,
        image.word(at: task &+ Self.lastAllocationOffset) == record &- Self.allocationHeaderSize,
        image.word(at: record &+ Self.waitingTaskOffset) == task
      else { continue }
      records[task] = record
      if count == 1 { hearing.remove(task) }
      guard let subject = image.word(at: record &+ Self.subjectOffset) else {
        dependencies[task] = .executor(nil)
        continue
      }
      if subject == image.word(at: task &+ Self.contextOffset) {
        waits[task] = .continuation
        dependencies[task] = .continuation
        forgetLinks(of: task)
      } else if isTask(subject) {
        dependencies[task] = .task(subject)
        waiting[subject, default: []].insert(task)
      } else if image.word(at: subject).map(isImage) == true,
        image.word(at: subject &+ Self.groupWaiterOffset) == task
      {
        waits[task] = .end
        dependencies[task] = .group(subject)
        forgetLinks(of: task)
      } else {
        dependencies[task] = .executor(subject)
      }
    }
    for (task, waiters) in waiting { addQueue(of: task, waiters, image, isTask) }
    for task in tasks { addChildren(of: task, image, isTask, isImage) }
  }

  /// Returns whether a word that leads to a task can resume that task, or pass a cancellation to it. Otherwise the word
  /// is a handle, or left over. `address`: the word's address, nil for roots.
  func mayResume(wordAt address: UInt64?, _ word: UInt64) -> Bool {
    if waits[word & ObjectGraphBuilder.addressBits & ~Self.stateBits] != .end { return true }
    return address.map(used.contains) ?? false
  }

  /// Returns whether a word leads to a child that the word can only cancel, and the cancellation has no effect. Such a
  /// child has finished, or waits for a continuation and has no cancellation handler. A group keeps the results of
  /// finished children through other words.
  func cancelsInVain(_ address: UInt64, _ word: UInt64) -> Bool {
    guard childLinks.contains(address) else { return false }
    let child = word & ObjectGraphBuilder.addressBits & ~Self.stateBits
    return finished.contains(child) || waits[child] == .continuation && !hearing.contains(child)
  }

  /// Returns whether a queue link is left over, or leads to a task that is not in the link's queue.
  func isLeftOverLink(_ address: UInt64, _ word: UInt64) -> Bool {
    if leftOverLinks.contains(address) { return true }
    return waits[word & ObjectGraphBuilder.addressBits & ~Self.stateBits] != nil && !used.contains(address)
  }

  private mutating func forgetLinks(of task: UInt64) {
    leftOverLinks.insert(task &+ TaskMemory.queueLinks.lowerBound)
    leftOverLinks.insert(task &+ TaskMemory.queueLinks.lowerBound &+ 8)
  }

  /// Adds the two words of each status record that pass a task's cancellation on to children. In some kinds of records,
  /// these words have another meaning. Returns the number of records.
  private mutating func addStatusRecords(of task: UInt64, _ image: HeapImage) -> Int {
    var next = image.word(at: task &+ Self.statusRecordOffset)
    var count = 0
    while let record = next, count < Self.recordLimit, used.insert(record &+ Self.subjectOffset).inserted {
      used.insert(record &+ Self.subjectOffset &+ 8)
      next = image.word(at: record &+ Self.outerOffset)
      count += 1
    }
    return count
  }

  /// Follows the list of tasks that wait for a task. The list begins in the task's future and continues in the first
  /// link of each waiting task.
  ///
  /// The word after the list head is the type of the result. This tells the list head from the word that leads to a
  /// child's parent: the word after that is another child, or 0.
  private mutating func addQueue(
    of task: UInt64, _ waiters: Set<UInt64>, _ image: HeapImage, _ isTask: (UInt64) -> Bool
  ) {
    func waiter(_ address: UInt64) -> UInt64? {
      image.word(at: address).map { $0 & ~Self.stateBits }.flatMap { waiters.contains($0) ? $0 : nil }
    }
    for offset in Self.futures {
      guard waiter(task &+ offset) != nil, let type = image.word(at: task &+ offset &+ 8), !isTask(type) else {
        continue
      }
      var link = task &+ offset
      while let next = waiter(link), waits.updateValue(.end, forKey: next) == nil {
        used.insert(link)
        leftOverLinks.insert(next &+ TaskMemory.queueLinks.lowerBound &+ 8)
        link = next &+ TaskMemory.queueLinks.lowerBound
      }
    }
  }

  /// Follows the list of children from each of a task's records. Linear in the records and the children.
  ///
  /// The record of a group is a part of the group. It begins after the group's table of functions.
  private mutating func addChildren(
    of task: UInt64, _ image: HeapImage, _ isTask: (UInt64) -> Bool, _ isImage: (UInt64) -> Bool
  ) {
    /// Returns the address of the word that leads from a child to the next child. Nil if no child of the task is at
    /// `child`.
    func nextLink(of child: UInt64) -> UInt64? {
      guard isTask(child) else { return nil }
      return Self.parents.lazy.map { child &+ $0 }.first { image.word(at: $0) == task }.map { $0 &+ 8 }
    }
    var record = image.word(at: task &+ Self.statusRecordOffset)
    var count = 0
    while let current = record, count < Self.recordLimit {
      record = image.word(at: current &+ Self.outerOffset)
      count += 1
      // Skip the record of the wait: it may lead to an awaited task. The awaited task leads back to this task, as a
      // child leads to its parent.
      if current == records[task] { continue }
      let group = current &- Self.groupRecordOffset
      let isGroup = image.word(at: group).map(isImage) == true
      var link = current &+ Self.subjectOffset
      var last: UInt64?
      while let child = image.word(at: link), let next = nextLink(of: child), childLinks.insert(link).inserted {
        parents[child] = task
        if isGroup, image.word(at: next &+ 8) == group { groups[child] = group }
        (link, last) = (next, child)
      }
      let lastLink = current &+ Self.subjectOffset &+ 8
      if let last, image.word(at: lastLink) == last { childLinks.insert(lastLink) }
    }
  }
}
