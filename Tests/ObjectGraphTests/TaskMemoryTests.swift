// Tasks, the frames of their functions, and the runtime's lists of tasks.

import Testing
import TraceTestSupport

@testable import HeapAnalysis

@Suite struct TaskMemoryTests {
  private typealias Heap = HeapBuilder

  /// Returns the addresses that a block refers to in the graph of a heap.
  private func targets(_ heap: HeapBuilder, from object: HeapBuilder.Object) throws -> Set<UInt64> {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: object.address)).rawValue
    return Set(graph.graph.edges(from: node).map { graph.heap[BlockID(graph.graph.target(of: $0))].address })
  }

  /// The offset of the allocator in a task, in Swift 6.1 and 6.3.
  private let allocator: UInt64 = 112
  private let inlineSlab: UInt64 = 256

  /// Makes a task of 768 bytes that contains a slab.
  private func task(_ heap: HeapBuilder) -> HeapBuilder.Object {
    let task = heap.malloc(768)
    heap.words[task.address] = HeapBuilder.taskMetadata
    heap.words[task.address + allocator + 8] = task.address + inlineSlab
    slab(heap, at: task.address + inlineSlab, capacity: 480, used: 0)
    return task
  }

  private func slab(_ heap: HeapBuilder, at address: UInt64, capacity: UInt64, used: UInt64?) {
    heap.words[address] = HeapBuilder.slabMetadata
    heap.words[address + 16] = used.map { capacity | $0 << 32 }
  }

  /// Makes a separate slab, which follows another one in the list.
  private func furtherSlab(_ heap: HeapBuilder, after address: UInt64, used: UInt64?) -> HeapBuilder.Object {
    let block = heap.malloc(1024)
    slab(heap, at: block.address, capacity: 992, used: used)
    heap.words[address + 8] = block.address
    return block
  }

  /// Places the last allocation of a task `offset` bytes after a slab's header.
  private func setLast(_ heap: HeapBuilder, _ task: HeapBuilder.Object, inSlabAt slab: UInt64, offset: UInt64) {
    let allocation = slab + 32 + offset
    heap.words[allocation + 8] = slab
    heap.words[task.address + allocator] = allocation
  }

  private func items(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Item")
    return (0..<count).map { _ in heap.object("App.Item") }
  }

  @Test func freedFramesHoldNothing() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let task = task(heap)
    let slab = task.address + inlineSlab
    setLast(heap, task, inSlabAt: slab, offset: 64)
    self.slab(heap, at: slab, capacity: 480, used: 160)
    heap.words[slab + 32 + 152] = items[0].address
    heap.words[slab + 32 + 160] = items[1].address
    #expect(try targets(heap, from: task).intersection(items.map(\.address)) == [items[0].address])
    // The slab does not say how much of it is in use, so any part may be.
    self.slab(heap, at: slab, capacity: 480, used: nil)
    #expect(try targets(heap, from: task).isSuperset(of: items.map(\.address)))
  }

  /// This is like a sleep with a tolerance. The context of the timer's source is a record in the task's frames. The
  /// record refers to the source and the task.
  @Test func timerRecordInATasksFramesHoldsTheTask() throws {
    let heap = HeapBuilder()
    let task = task(heap)
    let further = furtherSlab(heap, after: task.address + inlineSlab, used: 64)
    setLast(heap, task, inSlabAt: further.address, offset: 0)
    let source = heap.malloc(120)
    let record = further.address + 32 + 16
    heap.words[record] = source.address
    heap.words[record + 8] = task.address
    heap.words[source.address + 40] = record
    #expect(try targets(heap, from: source) == [task.address])
    // Any other word that refers to the frames only leads to the slab.
    heap.words[source.address + 40] = record + 8
    #expect(try targets(heap, from: source) == [further.address])
  }

  @Test func slabsCountUpToTheLastFrame() throws {
    let heap = HeapBuilder()
    let items = items(heap, 4)
    let task = task(heap)
    let first = task.address + inlineSlab
    slab(heap, at: first, capacity: 480, used: 320)
    let second = furtherSlab(heap, after: first, used: 96)
    let third = furtherSlab(heap, after: second.address, used: 0)
    setLast(heap, task, inSlabAt: second.address, offset: 48)
    heap.words[first + 32 + 312] = items[0].address
    heap.words[first + 32 + 320] = items[1].address
    heap.words[second.address + 32 + 88] = items[2].address
    heap.words[second.address + 32 + 96] = items[3].address
    heap.words[third.address + 200] = items[3].address
    #expect(try targets(heap, from: task) == [items[0].address, second.address])
    #expect(try targets(heap, from: second) == [items[2].address, third.address])
    #expect(try targets(heap, from: third).isEmpty)
  }

  @Test func unusedSlabsAfterTheLastAllocationAreEmpty() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    let task = task(heap)
    let first = task.address + inlineSlab
    slab(heap, at: first, capacity: 480, used: 64)
    setLast(heap, task, inSlabAt: first, offset: 0)
    // No allocation was made in this slab, so the recorder did not recognise it as a slab.
    let second = furtherSlab(heap, after: first, used: nil)
    heap.words[second.address + 200] = item.address
    #expect(try targets(heap, from: second).isEmpty)
  }

  @Test func unstartedTaskHoldsNothingFromStaleMemory() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    let task = task(heap)
    // No allocation was ever made in the task's slab.
    slab(heap, at: task.address + inlineSlab, capacity: 480, used: nil)
    heap.words[task.address + inlineSlab + 200] = item.address
    #expect(try targets(heap, from: task).isEmpty)
    // The allocator is not at the known offset, so nothing is certain.
    heap.words[task.address + allocator + 24] = task.address + inlineSlab
    heap.words[task.address + allocator + 8] = nil
    #expect(try targets(heap, from: task) == [item.address])
  }

  @Test func queueLinksOfATaskPointOnlyToTasksAndBlocks() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    let task = task(heap)
    let next = self.task(heap)
    let queue = heap.malloc(128)
    heap.words[task.address + 16] = next.address
    heap.words[task.address + 24] = queue.address
    #expect(try targets(heap, from: task) == [next.address, queue.address])
    // The task has not been in a queue yet, so this word is stale.
    heap.words[task.address + 16] = item.address
    #expect(try targets(heap, from: task) == [queue.address])
  }

  @Test func inconsistentAllocatorCountsAsInUse() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    let task = task(heap)
    let first = task.address + inlineSlab
    let second = furtherSlab(heap, after: first, used: 48)
    heap.words[second.address + 200] = item.address
    // The allocator contradicts itself: the last allocation is in the first slab, but the second slab is not empty.
    slab(heap, at: first, capacity: 480, used: 64)
    setLast(heap, task, inSlabAt: first, offset: 0)
    #expect(try targets(heap, from: second) == [item.address])
    // The last allocation is beyond the part in use.
    slab(heap, at: second.address, capacity: 992, used: 0)
    setLast(heap, task, inSlabAt: first, offset: 128)
    #expect(try targets(heap, from: second) == [item.address])
    // The last allocation is in a slab of another block.
    setLast(heap, task, inSlabAt: item.address, offset: 0)
    #expect(try targets(heap, from: second) == [item.address])
  }

  // MARK: Tasks among the frames of others

  @Test(arguments: [true, false]) func continuationOfAChildHoldsTheWaitingParent(isInline: Bool) throws {
    // `async let` places the child task in the frames of the parent.
    let heap = HeapBuilder()
    heap.type("App.Mailbox", fields: [Heap.field("continuation", 0)])
    let mailbox = heap.object("App.Mailbox")
    heap.global(mailbox)
    let task = task(heap)
    let first = task.address + inlineSlab
    slab(heap, at: first, capacity: 480, used: 320)
    let second = furtherSlab(heap, after: first, used: 320)
    setLast(heap, task, inSlabAt: second.address, offset: 0)
    let child = (isInline ? first : second.address) + 48
    heap.words[mailbox.address + 16] = child
    // The address is not a task's yet.
    #expect(try heap.findings().map(\.verdict) == [.suspended])
    heap.words[child] = HeapBuilder.taskMetadata
    #expect(try heap.findings().isEmpty)
    #expect(try targets(heap, from: mailbox) == [task.address])
    // A scanned word has the same effect.
    heap.words[mailbox.address + 16] = nil
    let block = heap.malloc(64)
    heap.global(block)
    heap.words[block.address + 8] = child
    #expect(try heap.findings().isEmpty)
  }

  @Test func lostTasksWithChildrenInTheirFramesAreSeparateLosses() throws {
    let heap = HeapBuilder()
    let tasks = (0..<3).map { _ in
      let task = task(heap)
      let first = task.address + inlineSlab
      slab(heap, at: first, capacity: 480, used: 320)
      setLast(heap, task, inSlabAt: first, offset: 0)
      let child = first + 48
      heap.words[child] = HeapBuilder.taskMetadata
      let own = heap.malloc(1024)
      slab(heap, at: own.address, capacity: 992, used: 320)
      heap.words[child + allocator + 8] = own.address
      // The child's frames hold its parent. The record of the child's wait refers to the child.
      heap.words[own.address + 64] = task.address
      heap.words[own.address + 72] = child
      return (task: task, frames: own)
    }
    for (one, other) in zip(tasks, tasks.dropFirst()) {
      // These words are stale.
      heap.words[one.task.address + inlineSlab + 320] = other.frames.address
      heap.words[one.frames.address + 80] = other.task.address
      heap.words[one.frames.address + 88] = other.frames.address
    }
    let findings = try heap.findings()
    #expect(findings.map(\.instances) == [3] && findings.map(\.evidence.isCycle) == [false])
    #expect(findings.map(\.retainedBlocks) == [6])
    // If the first task is in use, all of them are.
    heap.global(tasks[0].task)
    #expect(try heap.findings().isEmpty)
  }

  @Test func tasksOfUnknownLayoutAreNotJudged() throws {
    let heap = HeapBuilder()
    heap.type("App.Session")
    heap.layOutTasksAsKnown()
    let task = task(heap)
    let session = heap.object("App.Session")
    heap.words[task.address + 200] = session.address
    #expect(try heap.findings().map(\.verdict) == [.suspended])
    heap.words[0x1000_9000] = 2
    #expect(try heap.findings().isEmpty)
    #expect(
      try heap.analysis().remarks.contains { $0.contains("has layout 2 of tasks, and leaktrace knows layout 1.") })
    heap.words[0x1000_9000] = 1
    heap.words[0x1000_9008] = 240
    #expect(try heap.findings().isEmpty)
    #expect(try heap.analysis().remarks.contains { $0.contains("has tasks of 240 bytes") })
    // Nevertheless, an object that no task keeps is lost.
    _ = heap.object("App.Session")
    #expect(try heap.findings().map(\.verdict) == [.lost])
  }

  // MARK: Registry

  private let registry: UInt64 = 0x1000_D000

  /// Makes `count` tasks in one list of the registry, linked at an offset. No other reference holds them.
  private func linkedTasks(_ heap: HeapBuilder, _ count: Int, at offset: UInt64) -> [HeapBuilder.Object] {
    heap.variables[TaskRegistry.variable] = registry
    let tasks = (0..<count).map { _ in
      let task = heap.malloc(512)
      heap.words[task.address] = HeapBuilder.taskMetadata
      return task
    }
    heap.words[registry + 5 * TaskRegistry.headStride] = tasks.first?.address
    for (a, b) in zip(tasks, tasks.dropFirst()) {
      heap.words[a.address + offset] = b.address
      heap.words[b.address + offset + 8] = a.address
    }
    return tasks
  }

  @Test(arguments: [1, 2, 7]) func tasksLinkedOnlyByTheRegistryAreSuspendedForever(count: Int) throws {
    let heap = HeapBuilder()
    _ = linkedTasks(heap, count, at: 160)
    let findings = try heap.findings()
    #expect(findings.map(\.verdict) == [.suspended])
    #expect(findings.map(\.instances) == [count])
    #expect(findings.map(\.evidence.isCycle) == [false])
  }

  @Test func awaitedTaskIsHeldDespiteRegistryLinks() throws {
    let heap = HeapBuilder()
    let tasks = linkedTasks(heap, 3, at: 160)
    heap.words[tasks[0].address + 200] = tasks[2].address
    #expect(try targets(heap, from: tasks[0]) == [tasks[2].address])
    heap.global(tasks[0])
    #expect(try heap.findings().map(\.instances) == [1])
  }

  @Test func registryListMayIncludeTasksInFramesOfAnother() throws {
    let heap = HeapBuilder()
    let tasks = linkedTasks(heap, 2, at: 160)
    let owner = task(heap)
    heap.global(owner)
    slab(heap, at: owner.address + inlineSlab, capacity: 480, used: 320)
    setLast(heap, owner, inSlabAt: owner.address + inlineSlab, offset: 0)
    let child = owner.address + inlineSlab + 48
    heap.words[child] = HeapBuilder.taskMetadata
    heap.words[tasks[1].address + 160] = child
    heap.words[child + 168] = tasks[1].address
    #expect(try heap.findings().map(\.instances) == [2])
  }

  @Test func unknownRegistryLinksAddARemark() throws {
    let heap = HeapBuilder()
    let tasks = linkedTasks(heap, 3, at: 160)
    // The backward link is not the expected one.
    heap.words[tasks[2].address + 168] = tasks[0].address
    #expect(try heap.analysis().remarks.contains(TaskRegistry.remark))
    let known = HeapBuilder()
    _ = linkedTasks(known, 3, at: 160)
    #expect(try !known.analysis().remarks.contains(TaskRegistry.remark))
  }
}
