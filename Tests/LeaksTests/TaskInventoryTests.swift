// The rows of an inventory of tasks, and deadlocks.

@testable import LeakDetection
import Testing
import TraceTestSupport

@Suite struct TaskInventoryTests {
  @Test func tasksAreGroupedByHolder() throws {
    let heap = HeapBuilder()
    heap.type("App.Gate", fields: [HeapBuilder.field("waiting", 0)])
    heap.type("Task", kind: .task, fields: nil)
    for _ in 0..<3 {
      let (gate, task) = (heap.object("App.Gate"), heap.object("Task", size: 128))
      heap.global(gate)
      heap.set(gate, 0, task)
    }
    _ = heap.object("Task", size: 128)
    let inventory = try heap.analysis().taskInventory()
    #expect(inventory.rows.map(\.count) == [3, 1])
    // The heap has no runtime, so the layout of its tasks is unknown.
    #expect(inventory.rows.allSatisfy { $0.state == .unknown })
    let holders = inventory.rows.map { row -> String? in
      if case .holder(let name, _)? = row.resumer { name } else { nil }
    }
    #expect(holders == ["Gate.waiting", nil])
    #expect(inventory.rows.map(\.bytes) == [384, 128])
  }

  // MARK: Deadlocks

  private func thread(_ number: UInt32, waitsFor owner: Int?) -> TaskInventory.Thread {
    TaskInventory.Thread(
      number: number, name: "", task: nil, call: owner == nil ? nil : .lock, owner: owner, functions: [],
      isOfPool: false)
  }

  private func task(_ awaited: [Int] = [], mayGoOn: Bool? = nil, thread: Int? = nil) -> DeadlockSearch.Task {
    DeadlockSearch.Task(mayGoOn: mayGoOn ?? awaited.isEmpty, awaited: awaited, thread: thread)
  }

  @Test(
    "Circles of threads are deadlocks, and chains are not",
    arguments: [
      ([nil, 0, 1], []),
      ([1, 0], [[0, 1]]),
      ([0], [[0]]),
      ([1, 2, 1], [[1, 2]]),
      ([1, 2, 0, 4, 3, nil], [[0, 1, 2], [3, 4]]),
    ] as [([Int?], [[Int]])])
  func threads(owners: [Int?], circles: [[Int]]) {
    let threads = owners.enumerated().map { thread(UInt32($0 + 1), waitsFor: $1) }
    let search = DeadlockSearch([], threads: threads)
    #expect(search.deadlocks.map { $0.threads.sorted() } == circles)
  }

  @Test("A task is stuck if nothing that it waits for can end")
  func stuckTasks() {
    // 0 and 1 wait for each other, and 2 waits for 1. 3 waits for 4, which runs.
    let circle = DeadlockSearch([task([1]), task([0]), task([1]), task([4]), task()], threads: [])
    #expect(circle.stuck == [0, 1, 2])
    #expect(circle.deadlocks.map(\.tasks) == [[0, 1]])
    // A group goes on with the first child that ends.
    let group = DeadlockSearch([task([1, 2]), task([0]), task()], threads: [])
    #expect(group.stuck.isEmpty && group.deadlocks.isEmpty)
    // No code can resume 1, so 0 never ends. That is no deadlock.
    let dropped = DeadlockSearch([task([1]), task(mayGoOn: false)], threads: [])
    #expect(dropped.stuck == [0, 1] && dropped.deadlocks.isEmpty)
    // A task waits for itself.
    #expect(DeadlockSearch([task([0])], threads: []).deadlocks.map(\.tasks) == [[0]])
  }

  @Test("A task on a thread in a deadlock is stuck")
  func stuckThreads() {
    let threads = [thread(1, waitsFor: 1), thread(2, waitsFor: 0), thread(3, waitsFor: 0), thread(4, waitsFor: nil)]
    let search = DeadlockSearch([task(thread: 0), task([0]), task(thread: 2), task(thread: 3)], threads: threads)
    #expect(search.deadlocks.map { $0.threads.sorted() } == [[0, 1]])
    #expect(search.stuck == [0, 1, 2])
  }

  @Test("Two circles of tasks that no task links are two deadlocks")
  func twoCircles() {
    let search = DeadlockSearch([task([1]), task([0]), task([3]), task([4]), task([2])], threads: [])
    #expect(search.deadlocks.map(\.tasks) == [[0, 1], [2, 3, 4]])
  }
}
