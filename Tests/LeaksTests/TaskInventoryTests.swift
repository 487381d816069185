// The rows of an inventory of tasks, and deadlocks.

@testable import LeakDetection
import Testing
import TraceReading
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

  // MARK: Trees

  private func inventory(_ tasks: [(row: Int, parent: Int?, group: UInt64?)], rows: Int) -> TaskInventory {
    var inventory = TaskInventory()
    inventory.rows = (0..<rows).map { _ in TaskInventory.Row(state: .waiting) }
    for (index, task) in tasks.enumerated() {
      inventory.rows[task.row].count += 1
      inventory.tasks.append(
        TaskInventory.Task(
          address: RuntimeAddress(UInt64(index + 1) << 12), row: task.row, parent: task.parent,
          group: task.group.map { RuntimeAddress($0) }))
    }
    return inventory
  }

  @Test("Equal children of equal parents share a node, with the number of their groups")
  func tree() {
    // Two parents with a group of two children each. A child has an async let child. Children come before parents.
    let all = inventory(
      [
        (2, 1, nil), (1, 5, 0x10), (1, 5, 0x10), (1, 6, 0x20), (1, 6, 0x20), (0, nil, nil), (0, nil, nil),
        (3, nil, nil),
      ], rows: 4)
    let tree = TaskTree(all)
    #expect(tree.nodes.map(\.count) == [2, 4, 1, 1] && tree.nodes.map(\.depth) == [0, 1, 2, 0])
    #expect(tree.nodes.map(\.parent) == [nil, 0, 1, nil] && tree.nodes.map(\.groups) == [0, 2, 0, 0])
    #expect(tree.nodes(of: all) { _ in true } == [0, 1, 2, 3])
  }

  @Test("A chosen node is shown with the nodes above")
  func chosenNodes() {
    var all = inventory([(0, nil, nil), (1, 0, nil), (2, 1, nil), (3, 0, nil)], rows: 4)
    all.rows[2].state = .running
    #expect(TaskTree(all).nodes(of: all) { $0.state == .running } == [0, 1, 2])
  }

  @Test("Long chains, and circles of a damaged image, have a tree")
  func strangeTrees() {
    let count = 20_000
    let chain = inventory((0..<count).map { (0, $0 + 1 < count ? $0 + 1 : nil, nil) }, rows: 1)
    #expect(TaskTree(chain).nodes.count == count)
    let circle = TaskTree(inventory([(0, 1, nil), (0, 0, nil)], rows: 1))
    #expect(circle.nodes.reduce(0) { $0 + $1.count } == 2)
  }

  // MARK: Starvation

  /// Returns an inventory with threads that run one task each, all of one priority and queue, and `ready` other tasks.
  private func pool(blocked: Int, running: Int, limit: Int?, ready priority: UInt8 = 25) -> TaskInventory {
    var all = inventory((0..<blocked + running).map { _ in (0, nil, nil) }, rows: 2)
    all.rows[0].state = .running
    all.rows[0].priority = 25
    all.rows[1] = TaskInventory.Row(state: .ready, wait: .executor, priority: priority, count: 3)
    all.threads = (0..<blocked + running).map { index in
      var thread = TaskInventory.Thread(
        number: UInt32(index + 1), name: "", task: index, call: index < blocked ? .semaphore : nil, owner: nil,
        functions: [], isOfPool: true)
      thread.queue = RuntimeAddress(0x1000)
      thread.queueLimit = limit
      return thread
    }
    return all
  }

  @Test("Tasks are starved only if blocked threads have all places of their queue")
  func starvation() {
    #expect(pool(blocked: 2, running: 0, limit: 2).starvation.map(\.waiting) == [3])
    // The queue has a free place, one of its threads runs, or the ready tasks belong to another queue.
    #expect(!pool(blocked: 2, running: 0, limit: nil).isStarved)
    #expect(!pool(blocked: 2, running: 1, limit: 3).isStarved)
    #expect(!pool(blocked: 2, running: 0, limit: 2, ready: 17).isStarved)
    #expect(pool(blocked: 4, running: 0, limit: 4).isStarved)
  }
}
