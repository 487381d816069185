// Which function activations control is in, thread by thread and task by task.

/// Follows the stacks of all strands. Every frame of a strand's present stack is known with the moment since which it has been there, counted
/// in events of the process: so what was made at an earlier moment and what happens now share just the frames that began before.
///
/// An activation that ends and is entered again from the same call, without an event of the caller between, is taken for one that went on:
/// the trace shows stacks at events alone. Memory in proportion to the depth of the stacks that are in use; amortised constant time an event,
/// and the stack's depth where a thread changes tasks. For one thread at a time.
final class ActivationTracker {
  struct Frame: BitwiseCopyable, Sendable {
    /// In the tree of stacks.
    var node: UInt32
    /// Events of the process before it was there.
    var began: UInt64
  }

  struct Strand: BitwiseCopyable {
    /// 0 for a thread's own.
    var task: UInt64
    var frames: UnsafeMutablePointer<Frame>?
    var count: Int32
    var capacity: Int32
    /// Its task is gone.
    var isEnded: Bool
    /// The block the task lives in; 0 if it is not known.
    var block: UInt64
    /// Index of the thread that ran it last; `.max` before any did.
    var thread: UInt32
  }

  private struct ThreadRow: BitwiseCopyable {
    var strand: UInt32 = .max
    /// That of the thread when it runs no task.
    var own: UInt32 = .max
    /// The chunk and the offset of the last event that was taken in.
    var lastEvent: UInt64 = .max
    /// What the next stack keeps of the thread's last one says nothing of its strand: that has no stack from this thread, or one from another since.
    var isUntied = true
  }

  private let stacks: StackTree
  /// Events of the process before the latest that was taken in.
  private(set) var ordinal: UInt64 = 0
  private let strands = RowTable(blank: Strand(task: 0, frames: nil, count: 0, capacity: 0, isEnded: false, block: 0, thread: .max))
  private let threads = RowTable(blank: ThreadRow())
  private var strandsByTask: [UInt64: UInt32] = [:]
  private var strandsByBlock: [UInt64: UInt32] = [:]

  init(stacks: StackTree) { self.stacks = stacks }

  deinit {
    for index in 0..<strands.count { strands[index].pointee.frames?.deallocate() }
  }

  var strandCount: Int { strands.count }
  subscript(strand: StrandID) -> Strand { strands[Int(strand.rawValue)].pointee }

  /// Takes an event in; a second time has no effect. `ordinal`: events of the process so far. `findTask` gives the block of a
  /// task's context and is asked when the task is met for the first time. The strand that control is in.
  @inline(__always)
  func advance(_ event: TraceEvent, thread: Int, ordinal: UInt64, findTask: (UInt64) -> UInt64?) -> StrandID {
    threads.reach(thread)
    let row = threads[thread]
    let place = UInt64(event.chunk) << 32 | UInt64(event.payloadOffset)
    if row.pointee.lastEvent == place { return StrandID(row.pointee.strand) }
    row.pointee.lastEvent = place
    self.ordinal = ordinal
    if event.isStackNew || row.pointee.isUntied {
      changeStrand(event, thread: thread, ordinal: ordinal, findTask: findTask)
      return StrandID(threads[thread].pointee.strand)
    }
    let strand = strands[Int(row.pointee.strand)]
    if strand.pointee.count > Int32(bitPattern: event.keptDepth) { strand.pointee.count = Int32(bitPattern: event.keptDepth) }
    if event.stack != .unknown, strand.pointee.count < Int32(bitPattern: event.depth) { push(event, strand, ordinal: ordinal) }
    return StrandID(row.pointee.strand)
  }

  /// Puts the frames of the event's stack that its strand does not have yet.
  @inline(__always)
  private func push(_ event: TraceEvent, _ strand: UnsafeMutablePointer<Strand>, ordinal: UInt64) {
    let depth = Int32(bitPattern: event.depth)
    if depth > strand.pointee.capacity { grow(strand, to: depth) }
    let frames = strand.pointee.frames!
    var index = depth
    var node = event.stack
    while index > strand.pointee.count {
      index -= 1
      frames[Int(index)] = Frame(node: node.rawValue, began: ordinal)
      node = stacks.parent(of: node)
    }
    strand.pointee.count = depth
  }

  @inline(never)
  private func grow(_ strand: UnsafeMutablePointer<Strand>, to depth: Int32) {
    let capacity = max(depth, max(8, strand.pointee.capacity * 2))
    let larger = UnsafeMutablePointer<Frame>.allocate(capacity: Int(capacity))
    if let frames = strand.pointee.frames {
      larger.update(from: frames, count: Int(strand.pointee.count))
      frames.deallocate()
    }
    strand.pointee.frames = larger
    strand.pointee.capacity = capacity
  }

  @inline(never)
  private func changeStrand(_ event: TraceEvent, thread: Int, ordinal: UInt64, findTask: (UInt64) -> UInt64?) {
    let number: UInt32
    if event.task == 0 {
      let own = threads[thread].pointee.own
      number = own == .max ? addStrand(task: 0) : own
      threads[thread].pointee.own = number
    } else if let known = strandsByTask[event.task] {
      number = known
    } else {
      let block = findTask(event.task)
      let last = threads[thread].pointee.strand
      if block == nil, last != .max, strands[Int(last)].pointee.isEnded, strands[Int(last)].pointee.task == event.task {
        // What is done in a task's name after its end.
        number = last
      } else {
        number = addStrand(task: event.task)
        strandsByTask[event.task] = number
        if let block {
          strands[Int(number)].pointee.block = block
          strandsByBlock[block] = number
        }
      }
    }
    threads[thread].pointee.strand = number
    let strand = strands[Int(number)]
    if strand.pointee.thread != UInt32(thread) {
      // The thread that the task comes from has a stack that it may leave unseen.
      if strand.pointee.thread != .max, threads[Int(strand.pointee.thread)].pointee.strand == number {
        threads[Int(strand.pointee.thread)].pointee.isUntied = true
      }
      strand.pointee.thread = UInt32(thread)
    }
    let isKnown = event.stack != .unknown && !Self.hasNoStack(event) && !strand.pointee.isEnded
    threads[thread].pointee.isUntied = !isKnown
    if isKnown { reconcile(event, strand, ordinal: ordinal) }
  }

  /// Retains that are counted without stacks have an empty one, which says nothing.
  private static func hasNoStack(_ event: TraceEvent) -> Bool {
    guard event.stack == .empty else { return false }
    switch event.operation.effect {
    case .retain, .release: return true
    default: return false
    }
  }

  private func addStrand(task: UInt64) -> UInt32 {
    let number = strands.count
    strands.reach(number)
    strands[number].pointee = Strand(task: task, frames: nil, count: 0, capacity: 0, isEnded: false, block: 0, thread: .max)
    return UInt32(number)
  }

  /// Nothing says how the stack came about: frames that are the same from the outermost on count as having stayed.
  private func reconcile(_ event: TraceEvent, _ strand: UnsafeMutablePointer<Strand>, ordinal: UInt64) {
    let depth = Int32(bitPattern: event.depth)
    if strand.pointee.count > depth { strand.pointee.count = depth }
    var node = event.stack
    var index = depth
    while index > strand.pointee.count {
      index -= 1
      node = stacks.parent(of: node)
    }
    // A node stands for its frame and all further out: where nodes agree, so do the rest.
    while index > 0, strand.pointee.frames![Int(index) - 1].node != node.rawValue {
      index -= 1
      node = stacks.parent(of: node)
    }
    strand.pointee.count = index
    if index < depth { push(event, strand, ordinal: ordinal) }
  }

  /// The block of a task is freed: what ran in it has ended.
  @inline(never)
  func endTask(inBlock address: UInt64) {
    guard let number = strandsByBlock.removeValue(forKey: address) else { return }
    let strand = strands[Int(number)]
    if strandsByTask[strand.pointee.task] == number { strandsByTask[strand.pointee.task] = nil }
    strand.pointee.frames?.deallocate()
    strand.pointee.frames = nil
    strand.pointee.count = 0
    strand.pointee.capacity = 0
    strand.pointee.isEnded = true
    // The next task may have the same place in memory, and so the same name.
    let thread = strand.pointee.thread
    if thread != .max, threads[Int(thread)].pointee.strand == number { threads[Int(thread)].pointee.isUntied = true }
  }

  /// The stacks of all strands as they are now. `numbers`: indices of threads by their numbers. Linear in their depths.
  func present(ordinal: UInt64, threads numbers: [UInt32: Int]) -> Activations {
    var frames: [StrandID: [Frame]] = [:]
    for number in 0..<strands.count {
      let row = strands[number].pointee
      guard row.count > 0, let start = row.frames else { continue }
      frames[StrandID(UInt32(number))] = Array(UnsafeBufferPointer(start: start, count: Int(row.count)))
    }
    let own = numbers.compactMapValues { index in
      index < threads.count && threads[index].pointee.own != .max ? StrandID(threads[index].pointee.own) : nil
    }
    return Activations(frames: frames, ordinal: ordinal, ownStrands: own)
  }

  /// How many of the outermost frames of a strand were there, and have been since, when the process had seen `ordinal` events.
  /// Logarithmic in the depth.
  @inline(__always)
  func sharedDepth(_ strand: StrandID, since ordinal: UInt64) -> Int {
    let row = strands[Int(strand.rawValue)].pointee
    guard let frames = row.frames else { return 0 }
    var low = 0
    var high = Int(row.count)
    while low < high {
      let middle = (low &+ high) / 2
      if frames[middle].began <= ordinal { low = middle &+ 1 } else { high = middle }
    }
    return low
  }
}

/// The stacks of all strands at one moment.
public struct Activations: Sendable {
  let frames: [StrandID: [ActivationTracker.Frame]]
  /// Events of the process until then.
  public let ordinal: UInt64
  /// By thread number: the thread's strand outside of tasks.
  let ownStrands: [UInt32: StrandID]

  /// Without the stack of a thread that has none of the program's functions left.
  func leaving(thread number: UInt32) -> Activations {
    var frames = self.frames
    if let strand = ownStrands[number] { frames[strand] = nil }
    return Activations(frames: frames, ordinal: ordinal, ownStrands: ownStrands)
  }

  /// How many of the outermost frames of a strand have been there since the process had seen `ordinal` events. Logarithmic in the depth.
  public func sharedDepth(_ strand: StrandID, since ordinal: UInt64) -> Int {
    guard let row = frames[strand] else { return 0 }
    var low = 0
    var high = row.count
    while low < high {
      let middle = (low + high) / 2
      if row[middle].began <= ordinal { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Events of the process before the frame at an index from the outermost was there; nil if there is none.
  public func beginning(of strand: StrandID, frame index: Int) -> UInt64? {
    guard let row = frames[strand], row.indices.contains(index) else { return nil }
    return row[index].began
  }
}
