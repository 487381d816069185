// Tasks that have not begun, and the words in them that have not been written yet.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct InitialTaskMemoryTests {
  private let heap = HeapBuilder()
  private let futureAdapter: UInt64 = 0x1000_2000
  private let otherAdapter: UInt64 = 0x1000_2100
  private let function: UInt64 = 0x1000_3000
  private let completion: UInt64 = 0x1000_2200

  /// Offsets in a task with a result of 8 bytes, as Swift 6.3.1 makes it: 304 bytes, and then the locals of the task's
  /// function.
  private let result: UInt64 = 232
  private let context: UInt64 = 272
  private let task: HeapBuilder.Object
  /// The block with the captures of the task's function.
  private let captures: HeapBuilder.Object
  /// The object that stale words in the task's memory refer to.
  private let item: HeapBuilder.Object

  init() {
    heap.type("App.Item")
    heap.type("App.Captures")
    heap.variables = [
      TaskLayout.versionVariable: 0x1000_9000, TaskLayout.sizeVariable: 0x1000_9008,
      InitialTaskMemory.adapterVariables[0]: 0x1000_9010,
      InitialTaskMemory.adapterVariables[1]: 0x1000_9018,
    ]
    heap.words[0x1000_9000] = 1
    heap.words[0x1000_9008] = 208
    heap.words[0x1000_9010] = futureAdapter
    heap.words[0x1000_9018] = otherAdapter
    task = heap.malloc(320)
    captures = heap.object("App.Captures")
    item = heap.object("App.Item")
    heap.words[task.address] = HeapBuilder.taskMetadata
    set(56, futureAdapter)
    set(64, task.address + context)
    set(context - 32, task.address + result)
    set(context - 24, function)
    set(context - 16, captures.address)
    set(context + 8, completion)
  }

  private func set(_ offset: UInt64, _ word: UInt64?) { heap.words[task.address + offset] = word }

  /// Whether the task holds the object that one of its words refers to.
  private func isHeld(from offset: UInt64) throws -> Bool {
    let before = heap.words[task.address + offset]
    set(offset, item.address)
    defer { set(offset, before) }
    return try targets().contains(item.address)
  }

  private func targets() throws -> Set<UInt64> {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: task.address)).rawValue
    return Set(graph.graph.edges(from: node).map { graph.heap[BlockID(graph.graph.target(of: $0))].address })
  }

  @Test(arguments: [72, 232, 264, 288, 304, 312]) func unstartedTaskHoldsNothingThroughUnwrittenWords(_ offset: UInt64)
    throws
  {
    #expect(try !isHeld(from: offset))
  }

  @Test func unstartedTaskHoldsItsFunctionsCaptures() throws {
    #expect(try targets() == [captures.address])
  }

  /// The offsets of the parent, the group, a value of a task local, the tasks that wait for the result, and the error.
  @Test(arguments: [48, 80, 136, 208, 216, 224]) func unstartedTaskHoldsReferencesInItsHeader(_ offset: UInt64)
    throws
  {
    #expect(try isHeld(from: offset))
  }

  @Test(arguments: [232, 264, 288, 312]) func startedTaskMayHoldAnything(_ offset: UInt64) throws {
    // The task resumes in its function.
    set(56, function + 0x40)
    #expect(try isHeld(from: offset))
    #expect(try !isHeld(from: 72))
  }

  @Test func taskReferencedByAThreadMayRun() throws {
    heap.threads = [
      SnapshotThread(osThread: 1, stackPointer: 0x7000_0000_0000, threadPointer: 0, registers: [task.address + context])
    ]
    heap.regions.append(MemoryRegion(range: 0x7000_0000_0000..<0x7000_0001_0000, kind: .mainStack))
    #expect(try isHeld(from: 288))
    heap.threads[0].registers = []
    #expect(try !isHeld(from: 288))
    heap.words[0x7000_0000_0100] = task.address
    #expect(try isHeld(from: 288))
    heap.words[0x7000_0000_0100] = nil
    // A thread that could not be stopped may run any task.
    heap.threads.append(SnapshotThread(osThread: 2, stackPointer: nil, threadPointer: 0))
    #expect(try isHeld(from: 288))
  }

  @Test func taskWithoutAResultHasNoResultStorage() throws {
    set(56, otherAdapter)
    set(context - 32, nil)
    #expect(try isHeld(from: 232))
    #expect(try isHeld(from: context - 32))
    #expect(try !isHeld(from: 264))
    #expect(try !isHeld(from: 288))
  }

  @Test func unknownRuntimeLayoutMayHoldAnything() throws {
    heap.words[0x1000_9008] = 224
    #expect(try isHeld(from: 72))
    #expect(try isHeld(from: 288))
    heap.words[0x1000_9008] = 208
    heap.words[0x1000_9000] = 2
    #expect(try isHeld(from: 72))
    // Swift 6.1 does not export the size.
    heap.words[0x1000_9000] = 1
    heap.variables[TaskLayout.sizeVariable] = nil
    #expect(try !isHeld(from: 72))
    #expect(try !isHeld(from: 288))
    // Swift 6.0 exports neither the size nor the version, but a function that earlier versions lack.
    heap.variables[TaskLayout.versionVariable] = nil
    #expect(try isHeld(from: 72))
    heap.variables[TaskLayout.newestFunction] = 0x1000_2300
    #expect(try !isHeld(from: 72))
    #expect(try !isHeld(from: 288))
    // Now nothing is known about the runtime.
    heap.variables = [:]
    #expect(try isHeld(from: 72))
    #expect(try isHeld(from: 288))
  }

  @Test(
    arguments: [
      (64, 0x5000_0000_0108), (64, 0), (272, 0x1000_2000), (280, 0), (248, 0), (240, 0x1000_2000),
      (120, 0x5000_0000_0000),
    ] as [(UInt64, UInt64)])
  func inconsistentTaskMayHoldAnything(_ word: (offset: UInt64, value: UInt64)) throws {
    set(word.offset, word.value == 0 ? nil : word.value)
    #expect(try isHeld(from: 288))
    #expect(try isHeld(from: 312))
  }

  @Test func queueLinksDoNotPointIntoTaskFrames() throws {
    let other = heap.malloc(320)
    let slab = heap.malloc(1016)
    heap.words[other.address] = HeapBuilder.taskMetadata
    heap.words[other.address + 120] = slab.address
    heap.words[slab.address] = HeapBuilder.slabMetadata
    heap.words[slab.address + 16] = 984
    set(16, slab.address + 200)
    #expect(try !targets().contains(slab.address))
    // A block that is not a slab may be a job.
    let job = heap.malloc(80)
    set(16, job.address)
    #expect(try targets().contains(job.address))
  }
}
