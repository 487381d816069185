// The activations on each execution, and when each began, compared with an oracle and in single cases.

import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

/// Stores whole stacks as arrays. Each frame has the number of the event that put it there. Frames that two stacks
/// of an execution share, from the outermost frame on, count as unchanged: the trace shows no more than that.
private struct NaiveActivations {
  struct Execution: Hashable {
    var thread: UInt32
    var task: UInt64
  }

  var stacks: [Execution: [(key: UInt64, began: UInt64)]] = [:]

  mutating func take(_ execution: Execution, _ keys: [UInt64], ordinal: UInt64) {
    let old = stacks[execution] ?? []
    var kept = 0
    while kept < min(old.count, keys.count), old[kept].key == keys[kept] { kept += 1 }
    stacks[execution] = old[..<kept] + keys[kept...].map { ($0, ordinal) }
  }

  func sharedDepth(_ execution: Execution, since ordinal: UInt64) -> Int {
    (stacks[execution] ?? []).prefix { $0.began <= ordinal }.count
  }
}

/// A random program. Its threads sometimes run tasks, which move from thread to thread and end.
private struct RandomCalls {
  var threads: UInt32 = 1
  var tasks = false
  var events = 600
  /// Whether a task's first event on another thread is an allocation, whose stack every reader looks up.
  var movesByAllocation = false
  var retainsHaveStacks = true

  enum Step {
    case event(TraceEvent)
    case end(task: UInt64)
  }

  func build(_ random: inout SeededRandom) -> (builder: TraceBuilder, steps: [Step]) {
    var builder = TraceBuilder()
    builder.eventsPerChunk = [Int.max, 7, 40][Int(random.next() % 3)]
    if !retainsHaveStacks { builder.header.referenceCounting = .countsOnly }
    var stacks: [NaiveActivations.Execution: [UInt64]] = [:]
    var current: [UInt32: UInt64] = [:]
    var lastThread: [UInt64: UInt32] = [:]
    var live: [UInt64] = []
    var nextTask: UInt64 = 0x10_0000
    var steps: [Step] = []
    var time: UInt64 = 800
    while steps.count < events {
      let thread = UInt32.random(in: 1...threads, using: &random)
      if tasks, random.oneIn(6) {
        switch random.next() % 4 {
        case 0:
          current[thread] = 0
        case 1:
          current[thread] = nextTask
          live.append(nextTask)
          nextTask += 0x1000
        case 2 where !live.isEmpty:
          // The task moves to this thread. The previous thread need not have an event before the task moves back.
          current[thread] = live.randomElement(using: &random)!
        case 3 where live.count > 2:
          let ended = live.remove(at: Int.random(in: live.indices, using: &random))
          for (thread, task) in current where task == ended { current[thread] = 0 }
          steps.append(.end(task: ended))
        default: break
        }
      }
      let task = current[thread, default: 0]
      let execution = NaiveActivations.Execution(thread: task == 0 ? thread : 0, task: task)
      var keys = stacks[execution] ?? []
      keys.removeLast(min(keys.count, Int(random.next() % 4)))
      for _ in 0..<random.next() % 4 { keys.append(0x1000 + random.next() % 3) }
      // A retain with an empty stack may be a retain without a recorded stack, so empty stacks are avoided.
      if keys.isEmpty { keys = [0x1000 + random.next() % 3] }
      var operation: TraceReading.Operation = random.oneIn(2) ? .malloc : random.oneIn(2) ? .retain : .free
      if movesByAllocation, task != 0, lastThread[task] != thread { operation = .malloc }
      lastThread[task] = thread
      if retainsHaveStacks || operation != .retain { stacks[execution] = keys }
      time += 8
      var event = TraceEvent(
        operation: operation, address: time * 16, size: operation == .malloc ? 16 : 0, stack: builder.stack(keys),
        time: time, thread: thread)
      event.task = task
      builder.append(event)
      steps.append(.event(event))
    }
    return (builder, steps)
  }
}

/// Feeds a tracker and the oracle with the same events, and compares their executions and moments.
private struct Comparison: EventSink {
  let builder: TraceBuilder
  let steps: [RandomCalls.Step]
  let tracker: ActivationTracker
  /// Whether only allocations count as moments. A reader that looks up no other stacks knows no other moments.
  let allocationsAlone: Bool
  var oracle = NaiveActivations()
  var executions: [NaiveActivations.Execution: ExecutionID] = [:]
  var moments: [NaiveActivations.Execution: [UInt64]] = [:]
  var next = 0
  var ordinal: UInt64 = 0
  var random = SeededRandom(seed: 1)
  var comparisons = 0
  var differences: [String] = []

  mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    while case .end(let task) = steps[next] {
      tracker.endTask(inBlock: task - 8)
      let execution = NaiveActivations.Execution(thread: 0, task: task)
      oracle.stacks[execution] = nil
      next += 1
    }
    guard case .event(let original) = steps[next] else { return .taken }
    next += 1
    #expect(original.time == event.time && original.task == event.task)
    let execution = NaiveActivations.Execution(thread: event.task == 0 ? event.thread : 0, task: event.task)
    let hasStack = builder.header.referenceCounting == .withStacks || event.operation != .retain
    if hasStack { oracle.take(execution, builder.stacks.keys(of: original.stack), ordinal: ordinal) }
    let id = withUnsafePointer(to: event) {
      tracker.advance($0, tracker.row(ofThread: Int(event.thread)), ordinal: ordinal) { $0 - 8 }
    }
    if let known = executions[execution], known != id { differences.append("execution of event \(ordinal)") }
    executions[execution] = id
    if !allocationsAlone || event.operation == .malloc { moments[execution, default: []].append(ordinal) }
    for (execution, id) in executions {
      for _ in 0..<2 {
        guard let moment = moments[execution]?.randomElement(using: &random) else { continue }
        comparisons += 1
        let (found, expected) = (tracker.sharedDepth(id, since: moment), oracle.sharedDepth(execution, since: moment))
        if found != expected {
          differences.append("event \(ordinal): \(found) frames of \(execution) since \(moment), not \(expected)")
        }
      }
    }
    ordinal += 1
    return .taken
  }
}

@Suite struct ActivationOracleTests {
  private func compare(_ calls: RandomCalls, seed: UInt64, stacks: StackSelection) throws {
    var random = SeededRandom(seed: seed)
    let (builder, steps) = calls.build(&random)
    let reader = try builder.reader()
    var comparison = Comparison(
      builder: builder, steps: steps, tracker: ActivationTracker(stacks: reader.definitions.stacks),
      allocationsAlone: stacks == .allocations)
    reader.replay(into: &comparison, stacks: stacks)
    #expect(comparison.comparisons > 500)
    #expect(comparison.differences.first == nil, "\(comparison.differences.count) of \(comparison.comparisons)")
    // At the end, all executions are compared again.
    let present = comparison.tracker.present(ordinal: comparison.ordinal, threads: [:])
    for (execution, id) in comparison.executions {
      for moment in comparison.moments[execution] ?? [] {
        #expect(present.sharedDepth(id, since: moment) == comparison.oracle.sharedDepth(execution, since: moment))
      }
    }
  }

  @Test(arguments: TestTier.seeds(0..<30))
  func activationsOfOneThreadMatchAnOracle(seed: UInt64) throws {
    try compare(RandomCalls(), seed: seed, stacks: .all)
    try compare(RandomCalls(), seed: seed, stacks: .allocations)
  }

  @Test(arguments: TestTier.seeds(0..<30))
  func activationsOfManyThreadsMatchAnOracle(seed: UInt64) throws {
    try compare(RandomCalls(threads: 5), seed: seed &+ 100, stacks: .all)
    try compare(RandomCalls(threads: 5), seed: seed &+ 100, stacks: .allocations)
  }

  @Test(arguments: TestTier.seeds(0..<60))
  func activationsOfMovingTasksMatchAnOracle(seed: UInt64) throws {
    try compare(RandomCalls(threads: 3, tasks: true), seed: seed &+ 200, stacks: .all)
    try compare(RandomCalls(threads: 3, tasks: true, movesByAllocation: true), seed: seed &+ 200, stacks: .allocations)
  }

  @Test(arguments: TestTier.seeds(0..<30))
  func retainsWithoutStacksDoNotChangeActivations(seed: UInt64) throws {
    try compare(
      RandomCalls(threads: 3, tasks: seed % 2 == 0, retainsHaveStacks: false), seed: seed &+ 300, stacks: .all)
  }
}

/// The activations and the live blocks of a replayed trace.
private struct Replayed {
  let replayer: Replayer<SiteTotals>
  let present: Activations

  init(_ trace: TraceBuilder) throws {
    replayer = Replayer.replay(try trace.reader(), SiteTotals())
    present = replayer.activationsAtCheckpoint
  }

  func block(_ address: UInt64) throws -> LiveBlock { try #require(replayer.liveBlock(at: RuntimeAddress(address))) }
  func sharedDepth(of address: UInt64) throws -> Int {
    let block = try block(address)
    return present.sharedDepth(block.execution, since: block.ordinal)
  }
}

@Suite struct ActivationTests {
  @Test func returnEndsAnActivationAndItsCallees() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([1, 2, 3]), time: 8)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([1, 2]), time: 16)
    trace.event(.malloc, 0x300, size: 16, stack: trace.stack([1, 2, 3]), time: 24)
    let replayed = try Replayed(trace)
    #expect(try replayed.sharedDepth(of: 0x100) == 2)
    #expect(try replayed.sharedDepth(of: 0x200) == 2)
    #expect(try replayed.sharedDepth(of: 0x300) == 3)
    let execution = try replayed.block(0x100).execution
    #expect((0..<4).map { replayed.present.beginning(of: execution, frame: $0) } == [0, 0, 2, nil])
    #expect(replayed.present.ordinal == 3)
  }

  @Test func repeatedCallWithoutACallersEventIsOneActivation() throws {
    var trace = TraceBuilder()
    for n in 1...3 as ClosedRange<UInt64> {
      trace.event(.malloc, n * 0x100, size: 16, stack: trace.stack([1, 2, 3]), time: n * 8)
    }
    #expect(try Replayed(trace).sharedDepth(of: 0x100) == 3)
  }

  @Test func activationContinuesAcrossChunks() throws {
    var trace = TraceBuilder()
    trace.eventsPerChunk = 1
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([1, 2, 3]), time: 8)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([1, 2, 4]), time: 16)
    #expect(try Replayed(trace).sharedDepth(of: 0x100) == 2)
  }

  @Test func taskKeepsItsActivationsWhenItReturnsToAThread() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([1, 2, 3]), time: 8, thread: 1, task: 0x7000)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([1, 4, 5]), time: 16, thread: 2, task: 0x7000)
    // The first thread had no event in the meantime, so in its own sequence of stacks all three frames are unchanged.
    trace.event(.malloc, 0x300, size: 16, stack: trace.stack([1, 2, 3, 6]), time: 24, thread: 1, task: 0x7000)
    let replayed = try Replayed(trace)
    #expect(try replayed.sharedDepth(of: 0x100) == 1)
    #expect(try replayed.sharedDepth(of: 0x200) == 1)
    #expect(try Set([0x100, 0x200, 0x300].map { try replayed.block($0).execution }).count == 1)
  }

  @Test func threadsOwnStackIsKeptWhileItRunsATask() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([1, 2]), time: 8)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([7, 8]), time: 16, task: 0x7000)
    trace.event(.malloc, 0x300, size: 16, stack: trace.stack([1, 2, 3]), time: 24)
    let replayed = try Replayed(trace)
    #expect(try replayed.sharedDepth(of: 0x100) == 2)
    #expect(try replayed.sharedDepth(of: 0x200) == 2)
    #expect(replayed.present.leaving(thread: 1).sharedDepth(try replayed.block(0x100).execution, since: 0) == 0)
    #expect(replayed.present.leaving(thread: 1).sharedDepth(try replayed.block(0x200).execution, since: 1) == 2)
    #expect(replayed.present.leaving(thread: 2).sharedDepth(try replayed.block(0x100).execution, since: 0) == 2)
  }

  @Test func taskEndsWithTheBlockOfItsContext() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x7000, size: 0x200, stack: trace.stack([1]), time: 8)
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([5, 6]), time: 16, thread: 2, task: 0x7060)
    let before = try Replayed(trace)
    #expect(try before.block(0x7000).hasTask)
    #expect(try before.sharedDepth(of: 0x100) == 2)
    trace.event(.free, 0x7000, time: 24)
    #expect(try Replayed(trace).sharedDepth(of: 0x100) == 0)
    // Another task has the same address, and runs on another thread.
    trace.event(.malloc, 0x7000, size: 0x200, stack: trace.stack([1]), time: 32)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([5, 6]), time: 40, thread: 3, task: 0x7060)
    let after = try Replayed(trace)
    #expect(try after.sharedDepth(of: 0x100) == 0)
    #expect(try after.sharedDepth(of: 0x200) == 2)
    #expect(try after.block(0x100).execution != after.block(0x200).execution)
    #expect(try after.block(0x7000).hasTask)
  }

  @Test func newTaskInAFreedTasksBlockIsAnotherTask() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x7000, size: 0x200, stack: trace.stack([1]), time: 8)
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([5, 6]), time: 16, thread: 2, task: 0x7060)
    trace.event(.free, 0x7000, time: 24)
    trace.event(.malloc, 0x180, size: 16, stack: trace.stack([5, 6]), time: 32, thread: 2, task: 0x7060)
    trace.event(.malloc, 0x7000, size: 0x200, stack: trace.stack([1]), time: 40)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([5, 6]), time: 48, thread: 2, task: 0x7060)
    let replayed = try Replayed(trace)
    #expect(try replayed.block(0x100).execution == replayed.block(0x180).execution)
    #expect(try replayed.block(0x100).execution != replayed.block(0x200).execution)
    #expect(try [0x100, 0x180, 0x200].map { try replayed.sharedDepth(of: $0) } == [0, 0, 2])
    #expect(try replayed.block(0x7000).hasTask)
    trace.event(.free, 0x7000, time: 56)
    #expect(try Replayed(trace).sharedDepth(of: 0x200) == 0)
  }

  @Test func contextOutsideABlockOrFarInsideDoesNotBelongToIt() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x7000, size: 0x40, time: 8)
    trace.event(.malloc, 0x8000, size: 0x4000, time: 16)
    trace.event(.malloc, 0x100, size: 16, stack: trace.stack([5]), time: 24, thread: 2, task: 0x7040)
    trace.event(.malloc, 0x200, size: 16, stack: trace.stack([5]), time: 32, thread: 2, task: 0xB000)
    let replayed = try Replayed(trace)
    #expect(try !replayed.block(0x7000).hasTask && !replayed.block(0x8000).hasTask)
  }

  @Test func blockPointerStaysValidWhileOtherBlocksChange() throws {
    var random = SeededRandom(seed: 12)
    let memory = TableOwner()
    let table = BlockTable(minimumCapacity: 4, ownedBy: memory)
    var kept: [UInt64: UnsafeMutablePointer<LiveBlock>] = [:]
    for n in 1...64 as ClosedRange<UInt64> {
      table.insert(LiveBlock(address: n * 0x1000, size: n, birthTime: n, site: SiteID(0)))
      kept[n * 0x1000] = table.find(n * 0x1000)
    }
    var others: [UInt64] = []
    for step in 0..<200_000 as Range<UInt64> {
      if others.count > 50_000 || !others.isEmpty && random.oneIn(3) {
        #expect(table.remove(others.remove(at: others.count - 1)) != nil)
      } else {
        let address = 0x100_0000 + step * 16
        table.insert(LiveBlock(address: address, size: step, birthTime: 0, site: SiteID(0)))
        others.append(address)
      }
    }
    #expect(table.count == others.count + 64)
    for (address, pointer) in kept {
      #expect(
        table.find(address) == pointer && pointer.pointee.address == address && pointer.pointee.size == address / 0x1000
      )
    }
    withExtendedLifetime(memory) {}
  }

  @Test func likelyBlockWithoutAnAddressIsReadable() {
    let memory = TableOwner()
    let table = BlockTable(minimumCapacity: 4, ownedBy: memory)
    #expect(table.likelySlots.block(at: 0).pointee.address == 0)
    // The same must hold for a table that has grown.
    for n in 1...64 as ClosedRange<UInt64> {
      table.insert(LiveBlock(address: 0x1000 + n * 0x1000, size: n, birthTime: 0, site: SiteID(0)))
    }
    #expect(table.find(0) == nil && table.likelySlots.block(at: 0).pointee.size == 0)
    withExtendedLifetime(memory) {}
  }

  @Test func freedSlotIsReusedFirst() throws {
    let memory = TableOwner()
    let table = BlockTable(ownedBy: memory)
    for n in 1...3 as ClosedRange<UInt64> {
      table.insert(LiveBlock(address: n * 16, size: n, birthTime: 0, site: SiteID(0)))
    }
    let (first, second) = (table.find(16), table.find(32))
    #expect(table.remove(16)?.pointee.size == 1 && table.remove(32)?.pointee.size == 2)
    table.insert(LiveBlock(address: 64, size: 4, birthTime: 0, site: SiteID(0)))
    table.insert(LiveBlock(address: 80, size: 5, birthTime: 0, site: SiteID(0)))
    #expect(table.find(64) == second && table.find(80) == first)
    #expect(table.find(16) == nil && table.find(48)?.pointee.size == 3 && table.count == 3)
    withExtendedLifetime(memory) {}
  }
}
