// Objects that tasks keep while the tasks run, or wait only for a thread.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection

@Suite struct BusyTaskTests {
  private let server = RequestServer()
  private var heap: HeapBuilder { server.heap }
  /// Offsets in a task as Swift 6.3.1 makes it, with 512 bytes for its frames after the initial context.
  private let slab: UInt64 = 304

  init() { heap.layOutTasksAsKnown() }

  /// Suspends a task in a wait for a continuation. Without this, a thread runs the task.
  private func suspend(_ task: HeapBuilder.Object) {
    let allocation = task.address + slab + 176
    heap.words[task.address + 64] = task.address + slab + 64
    heap.words[task.address + 112] = allocation
    heap.words[allocation + 8] = task.address + slab
    let record = allocation + 16
    heap.words[task.address + 104] = record
    heap.words[task.address + 160] = record
    heap.words[record + 16] = task.address + slab + 64
    heap.words[record + 40] = task.address
  }

  /// Makes tasks that each keep a session. `isBusy`: by the task's number, whether a thread runs it.
  private func tasks(_ count: Int, isBusy: (Int) -> Bool) {
    for index in 0..<count {
      heap.visit(server.outer)
      heap.time += 10_000
      let session = heap.object("App.Session", stack: server.inner)
      let task = heap.malloc(840, stack: server.inner)
      heap.words[task.address] = HeapBuilder.taskMetadata
      heap.words[task.address + slab + 64 + 32] = session.address
      if !isBusy(index) { suspend(task) }
      server.put(task)
      heap.visit(server.outer)
    }
  }

  @Test(
    "If most tasks are at work, their objects need evidence that no code can end the tasks",
    arguments: [(0, true), (12, true), (13, false), (24, false)])
  func atWork(busy: Int, isSuspected: Bool) throws {
    tasks(24) { $0 < busy }
    let findings = try server.findings()
    #expect(findings.map(\.instances) == (isSuspected ? [24] : []), "\(busy) of 24 tasks run")
    #expect(findings.allSatisfy { $0.evidence.retention?.registration == .task })
  }

  @Test("Where no task of the image has a state, the tasks may all wait") func withoutStates() throws {
    // The layout of the tasks is unknown.
    heap.variables = [:]
    tasks(24) { _ in true }
    #expect(try server.findings().map(\.instances) == [24])
  }
}
