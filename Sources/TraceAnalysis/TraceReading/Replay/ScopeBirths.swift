// Blocks that were made in one marked scope, and are still live.

/// Follows the blocks that are made in one scope. These are the blocks that the scope's task (outside of tasks, its
/// thread) makes between the scope's beginning and end. Blocks that other tasks make in that time also count, if those
/// tasks were made in the scope. Tasks in the memory of another task (`async let`) are missed.
///
/// Memory is proportional to the scope's live blocks.
package struct ScopeBirths: ReplayObserver {
  /// By address of a live block: the time of its allocation, in ticks.
  package private(set) var live: [UInt64: UInt64] = [:]
  /// The mark of the scope's beginning, once the replay has reached it.
  package private(set) var beginning: TraceMark?
  /// The mark of the scope's first end, once the replay has reached it.
  package private(set) var end: TraceMark?

  private let number: UInt64
  private let marks: MarkTable
  private var task: UInt64 = 0
  private var thread: UInt32 = 0
  private var isOpen = false
  /// The sizes of blocks made in the scope, by address. A task that was made in the scope has its context inside one of
  /// these blocks.
  private var sizes: [UInt64: UInt64] = [:]
  private var strangers: Set<UInt64> = []

  /// `marks`: the marks of the reader whose events are replayed.
  package init(number: UInt64, marks: MarkTable) { (self.number, self.marks) = (number, marks) }

  /// Follows the scope's blocks in one pass over the events.
  package static func collect(number: UInt64, in reader: TraceReader) -> ScopeBirths {
    Replayer.replay(reader, ScopeBirths(number: number, marks: reader.marks)).observer
  }

  package mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
    let mark = marks.marks[Int(event.size)]
    guard mark.number == number else { return }
    if mark.kind == .scopeBegin, beginning == nil {
      (beginning, task, thread, isOpen) = (mark, event.task, event.thread, true)
    } else if mark.kind == .scopeEnd, isOpen {
      (end, isOpen) = (mark, false)
      strangers = []
    }
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard isOpen, belongs(event) else { return }
    live[block.address] = block.birthTime
    guard event.operation != .object, block.size >= Self.minTask else { return }
    sizes[block.address] = block.size
    strangers.removeAll(keepingCapacity: true)
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    if live.removeValue(forKey: block.address) != nil { sizes[block.address] = nil }
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}

  private mutating func belongs(_ event: TraceEvent) -> Bool {
    if event.task == 0 { return task == 0 && event.thread == thread }
    if event.task == task { return true }
    return isOfTaskMadeInside(event.task)
  }

  /// The smallest block that may be a task's: a task takes a few hundred bytes.
  private static let minTask: UInt64 = 128
  /// The largest distance from the beginning of a task's block to its outermost context, in steps of 16 bytes.
  private static let contextSteps: UInt64 = 64

  private mutating func isOfTaskMadeInside(_ context: UInt64) -> Bool {
    if sizes.isEmpty || strangers.contains(context) { return false }
    let last = context & ~15
    for step in 0..<Self.contextSteps where last >= step * 16 {
      let address = last - step * 16
      if let size = sizes[address] {
        if context - address < size { return true }
        break
      }
    }
    strangers.insert(context)
    return false
  }
}
