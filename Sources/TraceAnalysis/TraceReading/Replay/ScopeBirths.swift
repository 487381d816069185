// Blocks that were made in one marked scope, and are still live.

/// Watches a replay for one scope. It follows the blocks that its task makes between its beginning and its end (outside
/// of tasks, its thread). It also follows blocks that other tasks make in that time, if the tasks were made in the
/// scope. It misses a task whose memory is another task's (`async let`).
///
/// Memory in proportion to the scope's live blocks.
package struct ScopeBirths: ReplayObserver {
  /// By address; the time of birth, in ticks.
  package private(set) var live: [UInt64: UInt64] = [:]
  /// The beginning, once it was met.
  package private(set) var beginning: TraceMark?
  /// The first end, once it was met.
  package private(set) var end: TraceMark?

  private let number: UInt64
  private let marks: MarkTable
  private var task: UInt64 = 0
  private var thread: UInt32 = 0
  private var isOpen = false
  /// The sizes of blocks made in the scope, by address. A task made there has its context inside its block.
  private var sizes: [UInt64: UInt64] = [:]
  private var strangers: Set<UInt64> = []

  /// `marks`: of the reader whose events are replayed.
  package init(number: UInt64, marks: MarkTable) { (self.number, self.marks) = (number, marks) }

  /// One pass over the events.
  package static func collect(number: UInt64, in reader: TraceReader) -> ScopeBirths {
    Replayer.replay(reader, ScopeBirths(number: number, marks: reader.marks)).observer
  }

  package mutating func marked(_ event: TraceEvent, strand: StrandID, block: LiveBlock?) {
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
    guard event.operation != .object, block.size >= Self.leastTask else { return }
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

  /// A task takes a few hundred bytes.
  private static let leastTask: UInt64 = 128
  /// How far a task's outermost context may be from the beginning of its block, in steps of 16 bytes.
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
