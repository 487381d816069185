// Tracks the function activations that have not returned, for each thread and each task.

/// Follows the stacks of all executions. For every frame of an execution's current stack, records when the frame began, in
/// events of the process. So a block that was made earlier shares with the current event just the frames that began
/// before the block. Frames that began with the same event form one run.
///
/// The trace has stacks only at events. If an activation ends and the same call begins another one, without an event of
/// the caller in between, both count as one. Memory is proportional to the depth of the stacks in use. An event takes
/// amortised constant time, or time in the stack's depth if the thread changes tasks. For one thread at a time.
package final class ActivationTracker {
  /// Frames of a stack that began with the same event.
  package struct Run: BitwiseCopyable, Sendable {
    /// `start`: the index of the run's outermost frame. `end`: 1 more than the index of its innermost frame, some of
    /// which may have returned since. Indices count from the stack's outermost frame.
    var start: Int32
    var end: Int32
    /// Events of the process before the frames began.
    var began: UInt64
    /// The stack of the event that began the frames, `end` frames deep.
    package var stack: StackID
  }

  struct Execution: BitwiseCopyable {
    /// The task's context; 0 for a thread outside of tasks.
    var task: UInt64
    /// Runs of the current stack, the outermost first. No run is empty.
    var runs: UnsafeMutablePointer<Run>?
    var runCount: Int32
    var capacity: Int32
    /// The number of known frames of the current stack.
    var depth: Int32
    /// True if the execution's task has ended.
    var isEnded: Bool
    /// The task's block; 0 if unknown.
    var block: UInt64
    /// Index of the thread that ran the execution last; `.max` if no thread has run it.
    var thread: UInt32

    init(task: UInt64) {
      self.task = task
      runs = nil
      runCount = 0
      capacity = 0
      depth = 0
      isEnded = false
      block = 0
      thread = .max
    }
  }

  struct ThreadRow: BitwiseCopyable {
    fileprivate var execution: UInt32 = .max
    /// The address of the row of `execution`.
    fileprivate var place: UnsafeMutablePointer<Execution>?
    /// The thread's execution when it runs no task.
    fileprivate var own: UInt32 = .max
    /// True if the depth that the next event keeps of the thread's last stack shows nothing about the execution. The
    /// execution then has no stack from this thread, or has had a stack from another thread since.
    fileprivate var isUntied = true
    /// The thread's index.
    fileprivate var number: UInt32 = 0

    /// The execution that the thread runs.
    var present: ExecutionID { ExecutionID(execution) }
  }

  private let stacks: StackTree
  /// The number of changed frames that are not counted against `spareSteps` when a thread changes executions. Further
  /// frames count over the whole replay. No real process keeps changing between stacks that are thousands of frames
  /// deep and share nothing.
  private static let freeSteps: Int32 = 4096
  private var spareSteps = 1 << 28
  /// Events of the process before the latest recorded one.
  private(set) var ordinal: UInt64 = 0
  private let memory = TableOwner()
  private let executions: RowTable<Execution>
  private let threads: RowTable<ThreadRow>
  private var executionsByTask: [UInt64: UInt32] = [:]
  private var executionsByBlock: [UInt64: UInt32] = [:]

  init(stacks: StackTree) {
    self.stacks = stacks
    executions = RowTable(blank: Execution(task: 0), ownedBy: memory)
    threads = RowTable(blank: ThreadRow(), ownedBy: memory)
  }

  deinit {
    for index in 0..<executions.count { executions[index].pointee.runs?.deallocate() }
  }

  subscript(execution: ExecutionID) -> Execution { executions[Int(execution.rawValue)].pointee }

  /// Returns the state of a thread, by its index. The pointer is valid as long as the tracker.
  func row(ofThread thread: Int) -> UnsafeMutablePointer<ThreadRow> {
    threads.reach(thread)
    threads[thread].pointee.number = UInt32(thread)
    return threads[thread]
  }

  /// Records an event of a thread. Must be called once for each event. `ordinal`: events of the process so far.
  /// `findTask` returns the block of a task's context; it is called when the task is met for the first time. Returns
  /// the execution that the thread runs.
  @inline(__always)
  func advance(
    _ event: UnsafePointer<TraceEvent>, _ row: UnsafeMutablePointer<ThreadRow>, ordinal: UInt64,
    findTask: (UInt64) -> UInt64?
  ) -> ExecutionID {
    self.ordinal = ordinal
    if event.pointee.isStackNew || row.pointee.isUntied {
      changeExecution(event.pointee, thread: Int(row.pointee.number), ordinal: ordinal, findTask: findTask)
      return ExecutionID(row.pointee.execution)
    }
    let execution = row.pointee.place!
    let kept = Int32(bitPattern: event.pointee.keptDepth)
    if execution.pointee.depth > kept { Self.cut(execution, to: kept) }
    if event.pointee.stack != .unknown, execution.pointee.depth < Int32(bitPattern: event.pointee.depth) {
      Self.push(event.pointee.stack, Int32(bitPattern: event.pointee.depth), execution, ordinal: ordinal)
    }
    return ExecutionID(row.pointee.execution)
  }

  /// Removes the frames from index `depth` on.
  @inline(__always)
  private static func cut(_ execution: UnsafeMutablePointer<Execution>, to depth: Int32) {
    execution.pointee.depth = depth
    guard let runs = execution.pointee.runs else { return }
    var count = Int(execution.pointee.runCount)
    while count > 0, runs[count &- 1].start >= depth { count &-= 1 }
    execution.pointee.runCount = Int32(truncatingIfNeeded: count)
  }

  /// Adds the frames of a stack that the execution does not have yet. `depth`: the stack's depth.
  @inline(__always)
  private static func push(
    _ stack: StackID, _ depth: Int32, _ execution: UnsafeMutablePointer<Execution>, ordinal: UInt64
  ) {
    if execution.pointee.runCount == execution.pointee.capacity { grow(execution) }
    execution.pointee.runs.unsafelyUnwrapped[Int(execution.pointee.runCount)] = Run(
      start: execution.pointee.depth, end: depth, began: ordinal, stack: stack)
    execution.pointee.runCount &+= 1
    execution.pointee.depth = depth
  }

  @inline(never)
  private static func grow(_ execution: UnsafeMutablePointer<Execution>) {
    let capacity = max(8, execution.pointee.capacity * 2)
    let larger = UnsafeMutablePointer<Run>.allocate(capacity: Int(capacity))
    if let runs = execution.pointee.runs {
      larger.update(from: runs, count: Int(execution.pointee.runCount))
      runs.deallocate()
    }
    execution.pointee.runs = larger
    execution.pointee.capacity = capacity
  }

  @inline(never)
  private func changeExecution(_ event: TraceEvent, thread: Int, ordinal: UInt64, findTask: (UInt64) -> UInt64?) {
    let number: UInt32
    if event.task == 0 {
      let own = threads[thread].pointee.own
      number = own == .max ? addExecution(task: 0) : own
      threads[thread].pointee.own = number
    } else if let known = executionsByTask[event.task] {
      number = known
    } else {
      let block = findTask(event.task)
      let last = threads[thread].pointee.execution
      if block == nil, last != .max, executions[Int(last)].pointee.isEnded,
        executions[Int(last)].pointee.task == event.task
      {
        // This is an event of a task that has already ended.
        number = last
      } else {
        number = addExecution(task: event.task)
        executionsByTask[event.task] = number
        if let block {
          executions[Int(number)].pointee.block = block
          executionsByBlock[block] = number
        }
      }
    }
    let execution = executions[Int(number)]
    threads[thread].pointee.execution = number
    threads[thread].pointee.place = execution
    if execution.pointee.thread != UInt32(thread) {
      // The task's previous thread may leave its stack without an event.
      if execution.pointee.thread != .max, threads[Int(execution.pointee.thread)].pointee.execution == number {
        threads[Int(execution.pointee.thread)].pointee.isUntied = true
      }
      execution.pointee.thread = UInt32(thread)
    }
    let isKnown = event.stack != .unknown && !Self.hasNoStack(event) && !execution.pointee.isEnded
    threads[thread].pointee.isUntied = !isKnown
    if isKnown { reconcile(event, execution, ordinal: ordinal) }
  }

  /// Returns whether the event is a retain or release that was recorded without a stack. It has the empty stack
  /// instead, which shows nothing.
  private static func hasNoStack(_ event: TraceEvent) -> Bool {
    guard event.stack == .empty else { return false }
    switch event.operation.effect {
    case .retain, .release: return true
    default: return false
    }
  }

  private func addExecution(task: UInt64) -> UInt32 {
    let number = executions.count
    executions.reach(number)
    executions[number].pointee = Execution(task: task)
    return UInt32(number)
  }

  /// Replaces an execution's stack by an event's unrelated one. Equal frames, from the outermost inwards, count as frames
  /// that have not returned.
  private func reconcile(_ event: TraceEvent, _ execution: UnsafeMutablePointer<Execution>, ordinal: UInt64) {
    let depth = Int32(bitPattern: event.depth)
    if execution.pointee.depth > depth { Self.cut(execution, to: depth) }
    if execution.pointee.depth == 0 || spareSteps < Int(depth) {
      Self.cut(execution, to: 0)
      if depth > 0 { Self.push(event.stack, depth, execution, ordinal: ordinal) }
      return
    }
    var node = stacks.ancestor(of: event.stack, distance: depth - execution.pointee.depth)
    var shared = execution.pointee.depth
    // A node represents its frame and all frames further out. So if two nodes are equal, all of their outer frames are
    // equal.
    var run = Int(execution.pointee.runCount) - 1
    search: while run >= 0 {
      let present = execution.pointee.runs![run]
      var own = stacks.ancestor(of: present.stack, distance: present.end - shared)
      while shared > present.start {
        if own == node { break search }
        own = stacks.parent(of: own)
        node = stacks.parent(of: node)
        shared -= 1
      }
      run -= 1
    }
    spareSteps -= Int(max(0, depth - shared - Self.freeSteps))
    Self.cut(execution, to: shared)
    if shared < depth { Self.push(event.stack, depth, execution, ordinal: ordinal) }
  }

  /// Ends the execution of the task in a block that is freed.
  @inline(never)
  func endTask(inBlock address: UInt64) {
    guard let number = executionsByBlock.removeValue(forKey: address) else { return }
    let execution = executions[Int(number)]
    if executionsByTask[execution.pointee.task] == number { executionsByTask[execution.pointee.task] = nil }
    execution.pointee.runs?.deallocate()
    execution.pointee.runs = nil
    execution.pointee.runCount = 0
    execution.pointee.capacity = 0
    execution.pointee.depth = 0
    execution.pointee.isEnded = true
    // The next task may be at the same address, and so may have the same context.
    let thread = execution.pointee.thread
    if thread != .max, threads[Int(thread)].pointee.execution == number { threads[Int(thread)].pointee.isUntied = true }
  }

  /// Returns the current stacks of all executions. `numbers`: indices of threads by their numbers. Linear in the stacks'
  /// depths.
  func present(ordinal: UInt64, threads numbers: [UInt32: Int]) -> Activations {
    var stacks: [ExecutionID: Activations.Stack] = [:]
    for number in 0..<executions.count {
      let row = executions[number].pointee
      guard row.depth > 0, let runs = row.runs else { continue }
      stacks[ExecutionID(UInt32(number))] = Activations.Stack(
        runs: Array(UnsafeBufferPointer(start: runs, count: Int(row.runCount))), depth: Int(row.depth))
    }
    let own = numbers.compactMapValues { index in
      index < threads.count && threads[index].pointee.own != .max ? ExecutionID(threads[index].pointee.own) : nil
    }
    return Activations(stacks: stacks, ordinal: ordinal, ownExecutions: own)
  }

  /// Returns how many of the outermost frames of an execution have not returned since the process had `ordinal` events.
  /// Linear in the first eight runs that began since, and logarithmic in the depth beyond them.
  @inline(__always)
  func sharedDepth(_ execution: ExecutionID, since ordinal: UInt64) -> Int {
    let row = executions[Int(execution.rawValue)]
    guard let runs = row.pointee.runs else { return 0 }
    return runs.sharedDepth(count: Int(row.pointee.runCount), depth: Int(row.pointee.depth), since: ordinal)
  }
}

extension UnsafeMutablePointer<ActivationTracker.Run> {
  /// Returns how many frames began at or before event `ordinal`.
  @inline(__always)
  fileprivate func sharedDepth(count: Int, depth: Int, since ordinal: UInt64) -> Int {
    var high = count
    // A block that ended soon shares all runs but the last few.
    for _ in 0..<8 {
      if high == 0 { return 0 }
      if self[high &- 1].began <= ordinal { return high == count ? depth : Int(self[high].start) }
      high &-= 1
    }
    var low = 0
    while low < high {
      let middle = (low &+ high) / 2
      if self[middle].began <= ordinal { low = middle &+ 1 } else { high = middle }
    }
    return Int(self[low].start)
  }
}

/// The stacks of all executions at one moment.
package struct Activations: Sendable {
  package struct Stack: Sendable {
    /// The outermost first.
    package var runs: [ActivationTracker.Run]
    var depth: Int
  }

  package let stacks: [ExecutionID: Stack]
  /// Events of the process before that moment.
  package let ordinal: UInt64
  /// By thread number: the thread's execution outside of tasks.
  package let ownExecutions: [UInt32: ExecutionID]

  /// No execution has a stack.
  package static var none: Activations { Activations(stacks: [:], ordinal: 0, ownExecutions: [:]) }

  /// Returns a stack with the outermost frames of a thread outside of tasks; nil if it is unknown.
  package func outermostStack(ofThread number: UInt32) -> StackID? {
    ownExecutions[number].flatMap { stacks[$0]?.runs.first?.stack }
  }

  /// Returns the activations without the stack of a thread that has returned from all functions of the program.
  package func leaving(thread number: UInt32) -> Activations {
    var stacks = self.stacks
    if let execution = ownExecutions[number] { stacks[execution] = nil }
    return Activations(stacks: stacks, ordinal: ordinal, ownExecutions: ownExecutions)
  }

  /// Returns the index of the first run that does not satisfy `isWithin`; all runs before it must satisfy it.
  private static func first(_ runs: [ActivationTracker.Run], beyond isWithin: (ActivationTracker.Run) -> Bool) -> Int {
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if isWithin(runs[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns how many of the outermost frames of an execution have not returned since the process had `ordinal` events.
  /// Logarithmic in the depth.
  package func sharedDepth(_ execution: ExecutionID, since ordinal: UInt64) -> Int {
    guard let stack = stacks[execution] else { return 0 }
    let index = Self.first(stack.runs) { $0.began <= ordinal }
    return index < stack.runs.count ? Int(stack.runs[index].start) : stack.depth
  }

  /// Returns the events of the process before the frame at `index` began; nil if there is no such frame. Indices count
  /// from the outermost frame.
  package func beginning(of execution: ExecutionID, frame index: Int) -> UInt64? {
    guard let stack = stacks[execution], index >= 0, index < stack.depth else { return nil }
    let after = Self.first(stack.runs) { Int($0.start) <= index }
    return after > 0 ? stack.runs[after - 1].began : nil
  }
}
