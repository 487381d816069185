// Words of lost tasks that refer to other tasks: which of those other tasks are separate losses.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct TaskWordsTests {
  private let heap = HeapBuilder()
  private let function: UInt64 = 0x1000_3000
  private let completion: UInt64 = 0x1000_2200
  private let resultType: UInt64 = 0x1000_A000
  /// Offsets in a task as Swift 6.3.1 makes it, with a result of 8 bytes and a frame of 16: the future, the result, and
  /// the initial context.
  private let future: UInt64 = 208
  private let result: UInt64 = 232
  private let context: UInt64 = 272
  private let size: UInt64 = 304

  init() {
    heap.type("App.Item")
    heap.layOutTasksAsKnown()
  }

  private func set(_ task: HeapBuilder.Object, _ offset: UInt64, _ word: UInt64?) {
    heap.words[task.address + offset] = word
  }

  /// Makes a task that has begun, and that nothing can resume. glibc's blocks are 8 bytes longer than requested.
  private func task(hasResult: Bool = true) -> HeapBuilder.Object {
    let task = heap.malloc(size + 8)
    set(task, 0, HeapBuilder.taskMetadata)
    set(task, 56, function + 0x40)
    set(task, future + 8, hasResult ? resultType : nil)
    set(task, context - 32, hasResult ? task.address + result : nil)
    set(task, context - 24, function)
    set(task, context + 8, completion)
    return task
  }

  private func instances() throws -> [Int] { try heap.findings().map(\.instances) }

  @Test(arguments: [48, 80, 136, 200, 232, 264, 288, 296, 304])
  func wordsBetweenLostTasksDoNotJoinThem(offset: UInt64) throws {
    let tasks = (0..<3).map { _ in task() }
    set(tasks[0], offset, tasks[1].address)
    set(tasks[1], offset, tasks[2].address)
    set(tasks[2], offset, tasks[0].address)
    #expect(try instances() == [3])
    // If the first task is in use, it still keeps the next ones in use.
    heap.global(tasks[0])
    #expect(try instances() == [])
  }

  @Test func awaitedTaskKeepsItsWaiter() throws {
    let tasks = (0..<3).map { _ in task() }
    set(tasks[0], future, tasks[1].address)
    set(tasks[1], future, tasks[2].address)
    #expect(try instances() == [1])
  }

  @Test func childKeepsItsParentButNotItsSibling() throws {
    let parent = task()
    let children = (0..<3).map { _ in task() }
    for child in children { set(child, future - 24, parent.address) }
    set(children[0], future - 16, children[1].address)
    set(children[1], future - 16, children[2].address)
    #expect(try instances() == [3])
  }

  @Test func taskWithoutAResultHasItsParentBeforeItsFunction() throws {
    let (parent, child) = (task(), task(hasResult: false))
    set(child, context - 48, parent.address)
    #expect(try instances() == [1])
    set(child, context - 48, nil)
    set(child, context - 40, parent.address)
    #expect(try instances() == [2])
  }

  @Test func resultAlignedTo16MayFollowItsFutureByAWord() throws {
    let (waiting, awaited) = (task(), task())
    set(awaited, context - 32, awaited.address + result + 8)
    set(awaited, future, waiting.address)
    #expect(try instances() == [1])
  }

  @Test(arguments: [264, 304]) func unwrittenWordsKeepNothing(offset: UInt64) throws {
    let (task, item) = (task(), heap.object("App.Item"))
    set(task, offset, item.address)
    #expect(try heap.findings().map(\.verdict).count == 2)
    // A word in the frame of the task's function may be a reference.
    set(task, offset, nil)
    set(task, 288, item.address)
    #expect(try heap.findings().map(\.verdict) == [.suspended])
  }

  @Test func anyWordCountsIfATasksContextIsUnknown() throws {
    let tasks = (0..<2).map { _ in task() }
    set(tasks[0], 296, tasks[1].address)
    set(tasks[0], context + 8, 0x6000_0000_0000)
    #expect(try instances() == [1])
    set(tasks[0], context + 8, completion)
    #expect(try instances() == [2])
    // Tasks with another layout are not judged.
    heap.words[0x1000_9008] = 224
    #expect(try instances().isEmpty)
  }
}
