// Sleeping tasks that keep an object each. Whether other code can cancel them decides whether they are suspected.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

@Suite struct CancellableTaskTests {
  private let server = RequestServer()
  private var heap: HeapBuilder { server.heap }
  /// The function of the library that makes a timer.
  private static let after: UInt64 = 0x1000_1600
  private static let functions = RequestServer.functions.merging([after: "system dispatch_after_f"]) { $1 }
  private static let handle = "Swift.Task<(), Never>"

  /// Offsets in a task as Swift 6.3.1 makes it, with 512 bytes for its frames after the initial context.
  private let slab: UInt64 = 304
  private let parentOffset: UInt64 = 208

  init() {
    heap.type("App.Server", fields: [HeapBuilder.field("work", 0, type: Self.handle)])
    heap.layOutTasksAsKnown()
  }

  private func task() -> HeapBuilder.Object {
    let task = heap.malloc(840, stack: server.inner)
    heap.words[task.address] = HeapBuilder.taskMetadata
    return task
  }

  /// Makes a timer, with the task that the runtime makes for a sleep.
  private func sleep(of sleeper: HeapBuilder.Object) -> (timer: HeapBuilder.Object, wake: HeapBuilder.Object) {
    let (timer, wake) = (heap.malloc(120, stack: server.inner + [Self.after]), heap.malloc(304, stack: server.inner))
    heap.words[wake.address] = HeapBuilder.taskMetadata
    let token = heap.malloc(24)
    heap.set(timer, 1, wake)
    heap.set(wake, 20, token)
    heap.set(token, 0, sleeper)
    return (timer, wake)
  }

  /// Makes tasks that each keep a session, and that sleep again and again.
  private func pollers(_ count: Int) -> [HeapBuilder.Object] {
    let timers = heap.malloc(4096, stack: [0x1000_1010])
    heap.global(timers)
    return (0..<count).map { _ in
      heap.visit(server.outer)
      heap.time += 10_000
      let session = heap.object("App.Session", stack: server.inner)
      let poller = task()
      heap.words[poller.address + slab + 64] = session.address
      server.put(poller)
      for _ in 0..<2 {
        let (timer, wake) = sleep(of: poller)
        heap.free(wake)
        heap.free(timer)
        heap.words[timer.address + 24] = nil
      }
      server.put(sleep(of: poller).timer, in: timers)
      heap.visit(server.outer)
      return poller
    }
  }

  /// Makes tasks the children of a task. The parent's status record has the first and the last child. `group`: whether
  /// they belong to a group, rather than to an `async let` each.
  private func adopt(_ children: [HeapBuilder.Object], by parent: HeapBuilder.Object, isGroup: Bool = true) {
    let group = parent.address + slab + 64
    if isGroup { heap.words[group] = 0x1000_B000 }
    let record = group + 8
    heap.words[parent.address + 104] = record
    (heap.words[record + 16], heap.words[record + 24]) = (children.first?.address, children.last?.address)
    for (index, child) in children.enumerated() {
      heap.words[child.address + parentOffset] = parent.address
      if index + 1 < children.count { heap.words[child.address + parentOffset + 8] = children[index + 1].address }
      if isGroup { heap.words[child.address + parentOffset + 16] = group }
    }
  }

  /// Makes a variable with an object that has the handle of a task.
  private func keepHandle(of task: HeapBuilder.Object) {
    let owner = heap.object("App.Server", stack: [0x1000_1010])
    heap.global(owner)
    heap.set(owner, 0, task)
  }

  private func suspected() throws -> [Int] {
    try heap.findings(Self.functions).filter { $0.path.last?.qualifiedType == "App.Session" }.map(\.instances)
  }

  /// The code that has a handle.
  enum Handle: CaseIterable { case none, ofEach, ofParent, ofGrandparent, ofOther }

  @Test(
    "A task can be cancelled if other code has its handle, or the handle of a task above", arguments: Handle.allCases)
  func handles(place: Handle) throws {
    let (grandparent, parent, other) = (task(), task(), task())
    let children = pollers(6)
    adopt(children, by: parent)
    adopt([parent], by: grandparent, isGroup: false)
    switch place {
    case .none: break
    case .ofEach: children.forEach(keepHandle)
    case .ofParent: keepHandle(of: parent)
    case .ofGrandparent: keepHandle(of: grandparent)
    case .ofOther: keepHandle(of: other)
    }
    let relations = try heap.analysis(Self.functions).graph.taskRelations
    #expect(relations.parents.count == 7 && relations.groups.count == 6)
    #expect(try suspected() == (place == .none || place == .ofOther ? [6] : []))
  }

  @Test("A handle that only the parent has lets no other code cancel its children") func ownHandle() throws {
    let parent = task()
    server.put(parent)
    let owner = heap.object("App.Server", stack: server.inner)
    heap.set(owner, 0, parent)
    heap.words[parent.address + slab + 128] = owner.address
    adopt(pollers(6), by: parent)
    #expect(try suspected() == [6])
  }

  @Test("Parents are followed up to a limit, and a task among its own parents is followed once")
  func circles() {
    var relations = TaskRelations()
    relations.parents = [1: 2, 2: 3, 3: 1, 7: 7]
    #expect(relations.withParents(of: 1) == [1, 2, 3] && relations.withParents(of: 7) == [7])
    #expect(relations.withParents(of: 9) == [9])
    relations.parents = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ($0, $0 + 1) })
    let found = relations.withParents(of: 0)
    #expect(found.count > 16 && found.count < 1000 && found == Array(0..<UInt64(found.count)))
  }
}
