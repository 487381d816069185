// What suspended tasks wait for according to their own words. This shows who can resume the tasks, and which words are
// stale.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

@Suite struct TaskWaitsTests {
  private typealias Task = HeapBuilder.Object

  private let heap = HeapBuilder()
  /// Offsets in a task as Swift 6.3.1 makes it, with 512 bytes for its frames after the initial context.
  private let slab: UInt64 = 304
  private let context: UInt64 = 272
  private let future: UInt64 = 208
  private let used: UInt64 = 208
  private let function: UInt64 = 0x1000_3000

  init() {
    heap.type("App.Item")
    heap.layOutTasksAsKnown()
  }

  private func set(_ task: Task, _ offset: UInt64, _ word: UInt64?) { heap.words[task.address + offset] = word }

  /// Makes a task with a result, which has begun. `handles`: the number of references that others have.
  private func task(handles: UInt64 = 0) -> Task {
    let task = heap.malloc(840)
    set(task, 0, HeapBuilder.taskMetadata)
    set(task, 8, 3 + handles << 33)
    set(task, 56, function + 0x40)
    set(task, 64, task.address + slab + 64)
    set(task, future + 8, 0x1000_A000)
    set(task, context - 32, task.address + future + 24)
    set(task, context - 24, function)
    set(task, context + 8, function + 0x80)
    set(task, 120, task.address + slab)
    set(task, slab, HeapBuilder.slabMetadata)
    set(task, slab + 16, 480 | used << 32)
    return task
  }

  /// Suspends a task. The last frame has a record that names the awaited task.
  private func suspend(_ task: Task, on subject: UInt64? = nil, outer: UInt64? = nil) {
    let allocation = task.address + slab + 32 + used - 64
    set(task, 112, allocation)
    heap.words[allocation + 8] = task.address + slab
    let record = allocation + 16
    set(task, 104, record)
    set(task, 160, record)
    heap.words[record + 8] = outer
    heap.words[record + 16] = subject ?? heap.words[task.address + 64]
    heap.words[record + 40] = task.address
  }

  /// Makes memory that a variable refers to, and that begins with references to the tasks.
  private func holder(of tasks: Task...) {
    let holder = heap.malloc(64)
    for (index, task) in tasks.enumerated() { heap.words[holder.address + UInt64(8 * index)] = task.address }
    heap.global(holder)
  }

  private func instances() throws -> [Int] {
    let findings = try heap.findings()
    #expect(findings.allSatisfy { $0.verdict == .suspended })
    return findings.map(\.instances)
  }

  /// An object that is reached by a weak reference may cancel a task by the task's handle. If the task has another
  /// record besides the record of its wait, the task or its children may react to that.
  @Test(arguments: [false, true]) func handleInAWeaklyReferencedObjectMayCancelATask(hears: Bool) throws {
    heap.type("App.Registry", fields: [HeapBuilder.field("last", 0, .weak)])
    heap.type(
      "App.Owner", fields: [HeapBuilder.field("owner", 0), HeapBuilder.field("task", 1, type: "Swift.Task<(), Never>")])
    let (registry, owner, waiting) = (heap.object("App.Registry"), heap.object("App.Owner"), task(handles: 1))
    let handler = waiting.address + slab + 64
    suspend(waiting, outer: hears ? handler : nil)
    heap.words[handler + 16] = function
    heap.set(owner, 0, owner)
    heap.set(owner, 1, waiting)
    heap.words[registry.address + 16] = heap.sideTable(of: owner).address
    heap.global(registry)
    let analysis = try heap.analysis()
    let (leaked, blocks) = (try #require(analysis.leakedBlocks), analysis.graph.heap)
    func isLeaked(_ object: HeapBuilder.Object) -> Bool {
      blocks.block(containing: object.address).map { leaked.contains($0.rawValue) } ?? false
    }
    #expect(isLeaked(waiting) == !hears && isLeaked(owner))
  }

  /// The parent refers to its first child by a record. Each child refers to the next one.
  @Test(arguments: [false, true]) func parentCanOnlyCancelAChildThatAwaitsAContinuation(hears: Bool) throws {
    let (parent, first, last) = (task(), task(), task())
    let record = parent.address + slab + 64
    (heap.words[record + 16], heap.words[record + 24]) = (first.address, last.address)
    suspend(parent, outer: record)
    for child in [first, last] {
      let handler = child.address + slab + 64
      suspend(child, outer: hears ? handler : nil)
      heap.words[handler + 16] = function
      set(child, 208, parent.address)
    }
    set(first, 216, last.address)
    heap.global(parent)
    #expect(try instances() == (hears ? [] : [2]))
    // Code that has the continuation of one child can resume that child.
    holder(of: first)
    #expect(try instances() == (hears ? [] : [1]))
  }

  @Test(arguments: [("Swift.Task<(), Never>", false), ("Swift.Task<(), Never>", true), ("App.Continuation", false)])
  func handleCanOnlyCancelATaskThatAwaitsAContinuation(type: String, hears: Bool) throws {
    heap.type("App.Owner", fields: [HeapBuilder.field("task", 0, type: type)])
    let (owner, waiting) = (heap.object("App.Owner"), task(handles: 1))
    let handler = waiting.address + slab + 64
    suspend(waiting, outer: hears ? handler : nil)
    heap.words[handler + 16] = function
    heap.set(owner, 0, waiting)
    heap.global(owner)
    #expect(try instances() == (type.hasPrefix("Swift.Task") && !hears ? [1] : []))
  }

  @Test func wordsToATaskAwaitingAnotherAreStaleWithoutAHandle() throws {
    let (waiting, awaited) = (task(), task())
    suspend(awaited)
    suspend(waiting, on: awaited.address)
    set(awaited, future, waiting.address | 1)
    holder(of: waiting)
    heap.global(waiting)
    #expect(try instances() == [1])
  }

  @Test func handleKeepsATaskThatAwaitsAnother() throws {
    let (waiting, awaited) = (task(handles: 1), task())
    suspend(awaited)
    suspend(waiting, on: awaited.address)
    set(awaited, future, waiting.address)
    holder(of: waiting)
    #expect(try instances() == [])
  }

  @Test func singleHandleInAFieldLeavesNoneInUnknownMemory() throws {
    heap.type("App.Owner", fields: [HeapBuilder.field("task", 0)])
    let (waiting, awaited, owner) = (task(handles: 1), task(), heap.object("App.Owner"))
    suspend(awaited)
    suspend(waiting, on: awaited.address)
    set(awaited, future, waiting.address)
    heap.set(owner, 0, waiting)
    holder(of: waiting)
    // The owner is lost, and has the only handle of the task.
    #expect(try heap.findings().map(\.verdict).contains(.suspended))
    heap.global(owner)
    #expect(try instances() == [])
  }

  @Test func taskMissingFromTheWaitQueueMayBeRunning() throws {
    let (waiting, awaited) = (task(), task())
    suspend(awaited)
    suspend(waiting, on: awaited.address)
    heap.global(waiting)
    #expect(try instances() == [])
  }

  @Test func everyWaiterOfATaskInUseIsInUse() throws {
    let (first, second, awaited) = (task(), task(), task())
    suspend(awaited)
    suspend(first, on: awaited.address)
    suspend(second, on: awaited.address)
    set(awaited, future, first.address)
    set(first, 16, second.address)
    #expect(try instances() == [1])
    // If the second task does not record its awaited task, the word may be its link in a queue.
    heap.words[second.address + 160] = nil
    #expect(try instances() == [2])
    heap.global(awaited)
    #expect(try instances() == [])
  }

  @Test(arguments: [16, 24]) func queueLinkOfATaskWithAContinuationIsStale(offset: UInt64) throws {
    let (resumed, lost) = (task(), task())
    suspend(resumed)
    suspend(lost)
    set(resumed, offset, lost.address)
    heap.global(resumed)
    #expect(try instances() == [1])
    // A task without a record of its wait may be in a queue, and so may the next task.
    set(resumed, 160, nil)
    set(lost, 160, nil)
    #expect(try instances() == [])
  }

  @Test func holderOfATasksContinuationKeepsTheTask() throws {
    let lost = task()
    suspend(lost)
    holder(of: lost)
    #expect(try instances() == [])
  }

  /// A task and an object with its continuation form a cycle. A registry has a weak reference to the object.
  @Test(arguments: [true, false]) func weakReferenceToAContinuationCanResumeATask(isContinuation: Bool) throws {
    heap.type(
      "App.Feed",
      fields: [HeapBuilder.field("waiting", 0, type: isContinuation ? "Swift.UnsafeContinuation<Int>" : "Swift.Task")])
    heap.type("App.Registry", fields: [HeapBuilder.field("feed", 0, .weak)])
    let (task, feed, registry) = (task(handles: 1), heap.object("App.Feed"), heap.object("App.Registry"))
    suspend(task)
    set(task, slab + 72, feed.address)
    heap.set(feed, 0, task)
    let before = try heap.findings().map(\.verdict)
    // The registry itself is lost until a variable refers to it.
    #expect(before == [.suspended, .lost])
    heap.words[registry.address + 16] = heap.sideTable(of: feed).address
    heap.global(registry)
    let after = try heap.findings().map(\.verdict)
    #expect(after == (isContinuation ? [] : [.retainCycle]))
  }

  @Test func taskWithoutFramesHasFinished() throws {
    let (finished, waiting) = (task(), task())
    set(finished, slab + 16, 480)
    suspend(waiting)
    let findings = try heap.findings()
    #expect(Set(findings.map(\.verdict)) == [.lost, .suspended] && findings.count == 2)
    #expect(findings.first { $0.verdict == .suspended }?.evidence.taskWait == .continuation)
    #expect(findings.first { $0.verdict == .lost }?.advice == [.lost(.balanceTask)])
  }

  /// A task that waits for its group cannot end while a child of the group is suspended for ever.
  @Test(arguments: [false, true]) func suspendedChildExplainsItsParentsMemory(isResumable: Bool) throws {
    let (parent, child, other, item) = (task(handles: 1), task(), task(), heap.object("App.Item"))
    let group = parent.address + slab + 64
    set(parent, 64, parent.address + slab + 48)
    heap.words[group] = 0x1000_B000
    (heap.words[group + 16], heap.words[group + 24], heap.words[group + 88]) = (
      child.address, child.address, parent.address
    )
    suspend(parent, on: group, outer: group)
    suspend(child)
    set(child, 208, parent.address)
    suspend(other)
    holder(of: parent, other)
    if isResumable { holder(of: child) }
    let analysis = try heap.analysis()
    let graph = analysis.graph
    let stuck = StuckTasks(graph, unreachable: try #require(analysis.leakedBlocks))
    func path(_ objects: Task...) throws -> [LeakGroup.Step] {
      try objects.map { .init(node: try #require(graph.heap.block(containing: $0.address)).rawValue, edge: nil) }
    }
    #expect(stuck.keeps(try path(parent, item)) == !isResumable)
    // The object is kept by the innermost task on the path.
    #expect(!stuck.keeps(try path(parent, other, item)))
    #expect(!stuck.keeps(try path(item)))
  }

  @Test func onlyItsTaskAwaitsAGroup() throws {
    let (parent, child) = (task(), task())
    let group = parent.address + slab + 64
    set(parent, 64, parent.address + slab + 48)
    heap.words[group] = 0x1000_B000
    heap.words[group + 88] = parent.address
    // The words of a group's child: its parent, the next child, and the group.
    set(child, 208, parent.address)
    set(child, 224, group)
    set(child, 240, 0x1000_A000)
    set(child, context - 32, child.address + 256)
    suspend(parent, on: group)
    suspend(child)
    holder(of: parent)
    #expect(try instances() == [1])
    heap.global(child)
    #expect(try instances() == [])
  }

  /// This is a timeout: the parent sleeps, and will then cancel its child, whatever the child waits for.
  @Test func runningTaskKeepsItsChildren() throws {
    let (parent, child, awaited) = (task(), task(), task())
    let group = parent.address + slab + 96
    heap.words[group + 16] = child.address
    suspend(parent, outer: group)
    suspend(awaited)
    suspend(child, on: awaited.address)
    set(awaited, future, child.address)
    heap.global(parent)
    #expect(try instances() == [])
    heap.words[parent.address + slab + 32 + used - 48 + 8] = nil
    #expect(try instances() == [1])
  }

  @Test func taskInFramesUsesItsMemoryUpToItsAwait() throws {
    let (outer, item) = (task(), heap.object("App.Item"))
    let more = heap.malloc(1000)
    let child = outer.address + slab + 64
    heap.words[child] = HeapBuilder.taskMetadata
    heap.words[child + 120] = more.address
    let record = more.address + 48
    heap.words[more.address] = HeapBuilder.slabMetadata
    heap.words[more.address + 16] = 960 | 64 << 32
    heap.words[more.address + 40] = more.address
    heap.words[more.address + 160] = item.address
    heap.words[child + 64] = more.address + 48
    heap.words[child + 112] = more.address + 32
    heap.words[child + 104] = record
    heap.words[child + 160] = record
    heap.words[record + 16] = heap.words[child + 64]
    heap.words[record + 40] = child
    heap.global(outer)
    let verdicts = try heap.findings().map(\.verdict)
    #expect(verdicts == [.lost])
    // If the child runs, all three may be in use.
    heap.words[child + 160] = nil
    #expect(try heap.findings().isEmpty)
  }
}
