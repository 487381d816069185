// The timers of sleeping tasks.

import CHeapScan
import TraceReading

/// A timer that ends a task's sleep.
package struct TaskTimer: Hashable, Sendable {
  package enum Clock: String, Codable, Sendable {
    /// Stops while the machine is suspended: CLOCK_MONOTONIC.
    case suspending
    /// Goes on while the machine is suspended: CLOCK_BOOTTIME.
    case continuous
    /// CLOCK_REALTIME.
    case wall
  }

  package var clock: Clock
  /// The time when the timer fires, in nanoseconds of its clock.
  package var target: UInt64
  /// The address of the task that the runtime made for the sleep.
  package var runtimeTask: UInt64
}

extension ObjectGraph {
  /// Returns the timer of each sleeping task, by the task's address. Has only timers whose memory agrees with the known
  /// layouts of libdispatch and of sleeps. Linear in the blocks.
  ///
  /// `Task.sleep` makes a second task, which the timer's continuation runs. The closure of this task has the address of
  /// a token. The token is a word with the address of the sleeping task, and its lowest bits are a state. With a
  /// tolerance, the continuation's context is not the second task, but a record among its frames: the source and the
  /// task.
  ///
  /// Source: swiftlang/swift, stdlib/public/Concurrency/TaskSleep.swift and DispatchGlobalExecutor.cpp; seen with Swift
  /// 6.0.3, 6.1.2 and 6.3.1. `object_layout.h` of CHeapScan has the layout of timers.
  package func taskTimers() -> [UInt64: TaskTimer] {
    guard taskRelations.isKnown else { return [:] }
    var timers: [UInt64: TaskTimer] = [:]
    var ambiguous: Set<UInt64> = []
    for block in heap.blocks where Self.timerSizes.contains(block.size) {
      guard let timer = timer(at: block.address), let sleeper = sleeper(resumedBy: timer.runtimeTask) else { continue }
      if timers.updateValue(timer, forKey: sleeper) != nil { ambiguous.insert(sleeper) }
    }
    // The memory of an earlier sleep may be unchanged. Then nothing shows which timer is the task's.
    for task in ambiguous { timers[task] = nil }
    return timers
  }

  /// Sizes of blocks for a timer. Allocators round up.
  private static let timerSizes = UInt64(SWIFT_TIMER_SIZE)...UInt64(SWIFT_TIMER_SIZE) * 3 / 2
  /// Offset of the context in a continuation of libdispatch.
  private static let contextOffset: UInt64 = 40
  /// Offset of the first captured value in a closure's context.
  private static let captureOffset: UInt64 = 16
  private static let maxTokenSize: UInt64 = 32
  private static let stateBits: UInt64 = 7

  /// Returns the timer at an address. Nil if no timer of a task is there, or if an older recorder made the image.
  private func timer(at address: UInt64) -> TaskTimer? {
    func word(_ offset: Int32) -> UInt64? { image.word(at: address &+ UInt64(offset)) }
    guard let type = word(0), roots.isImage(type), let flags = word(Int32(SWIFT_TIMER_FLAGS)),
      flags >> 40 & UInt64(SWIFT_TIMER_IS_TIMER) != 0, let target = word(Int32(SWIFT_TIMER_TARGET)),
      let handler = word(Int32(SWIFT_TIMER_HANDLER)), heap.block(containing: handler) != nil,
      let second = image.word(at: handler &+ Self.contextOffset).flatMap(secondTask)
    else { return nil }
    let clock: TaskTimer.Clock
    switch flags >> 50 & 3 {
    case UInt64(SWIFT_CLOCK_UPTIME): clock = .suspending
    case UInt64(SWIFT_CLOCK_BOOT): clock = .continuous
    case UInt64(SWIFT_CLOCK_WALL): clock = .wall
    default: return nil
    }
    // A timer that has fired has the greatest number. A disabled one, too.
    guard target > 0, target < UInt64(Int64.max) else { return nil }
    return TaskTimer(clock: clock, target: target, runtimeTask: second)
  }

  /// Returns the sleeping task that the runtime's task resumes.
  private func sleeper(resumedBy second: UInt64) -> UInt64? {
    guard let closure = closure(ofTaskAt: second) else { return nil }
    var found: Set<UInt64> = []
    let block = heap[closure]
    image.forEachWord(in: block.address &+ Self.captureOffset..<block.address &+ block.size) { _, word in
      guard let token = heap.block(containing: word), heap[token].address == word,
        heap[token].size <= Self.maxTokenSize, let task = image.word(at: word).map({ $0 & ~Self.stateBits }),
        taskRelations.dependencies[task] == .continuation
      else { return }
      found.insert(task)
    }
    return found.count == 1 ? found.first : nil
  }

  /// Returns the task that a timer's continuation runs: the continuation's context itself, or the task that the
  /// context's record names.
  private func secondTask(_ context: UInt64) -> UInt64? {
    if isTask(at: context) { return context }
    guard let source = image.word(at: context), let timer = image.word(at: source &+ UInt64(SWIFT_SOURCE_TIMER)),
      heap.block(containing: timer).map({ heap[$0].address }) == timer, let task = image.word(at: context &+ 8)
    else { return nil }
    return isTask(at: task) ? task : nil
  }

  private func isTask(at address: UInt64) -> Bool {
    heap.block(containing: address).map { heap[$0].address == address && type(of: $0.rawValue).kind == .task } ?? false
  }
}
