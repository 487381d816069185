// The state that the runtime keeps in each task.

import CHeapScan

/// The flags of a task's state, from the task itself.
///
/// Source: swiftlang/swift, stdlib/public/Concurrency/TaskPrivate.h (ActiveTaskStatus); seen with Swift 6.0.3, 6.1.2 and
/// 6.3.1.
package struct TaskStatus: Hashable, Sendable {
  let rawValue: UInt64

  private static let (cancelled, running, enqueued, complete): (UInt64, UInt64, UInt64, UInt64) = (
    0x100, 0x800, 0x1000, 0x2000
  )
  private static let priorityMask: UInt64 = 0xFF

  /// Nil if the word cannot be a state.
  init?(_ word: UInt64) {
    guard word >> 16 == 0 else { return nil }
    rawValue = word
  }

  package var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  /// True while a thread runs the task.
  package var isRunning: Bool { rawValue & Self.running != 0 }
  /// True while the task is in the queue of an executor.
  package var isEnqueued: Bool { rawValue & Self.enqueued != 0 }
  /// True once the task's function has returned. The runtime may still be handing out the result.
  package var isComplete: Bool { rawValue & Self.complete != 0 }
  /// For example 21 for the default priority; 0 if none was given.
  package var priority: UInt8 { UInt8(rawValue & Self.priorityMask) }
}

extension ObjectGraph {
  /// Returns the state of the task at an address. Nil if the image lacks the state, because an older recorder made the
  /// image, or if the layout of tasks is unknown.
  package func taskStatus(at address: UInt64) -> TaskStatus? {
    guard taskRelations.isKnown else { return nil }
    return image.word(at: address &+ UInt64(SWIFT_TASK_STATUS)).flatMap(TaskStatus.init)
  }
}
