import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

/// Threads are named for the function where they started.
@Suite struct ThreadNameTests {
  private static let functions: [UInt64: String] = [
    0x1000_2000: "system start_thread", 0x1000_2010: "system _dispatch_worker_thread", 0x1000_3000: "Pump.run()",
    0x1000_3010: "Pump.step()",
  ]

  /// Returns the root of an object that only the stack of a thread holds. `stack`: the stack of the thread's last
  /// event.
  private func root(of number: UInt32, stack: [UInt64]?) throws -> PathOrigin {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: [])
    if let stack {
      heap.trace.definitions.append(.thread(ThreadRecord(thread: 2, osThread: UInt64(number), time: 1)))
      heap.visit(stack, thread: 2)
    }
    let item = heap.object("App.Item")
    let base: UInt64 = 0x7000_0000_0000
    heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    heap.threads = [SnapshotThread(osThread: number, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    heap.words[base + 0x9000] = item.address
    return try #require(try heap.analysis(Self.functions).explain(.type(NamePattern("Item")), limit: 1).groups.first)
      .origin
  }

  @Test func threadIsNamedByItsStartFunctionInTheProgram() throws {
    let origin = try root(of: 4711, stack: [0x1000_2000, 0x1000_3000, 0x1000_3010])
    #expect(origin == PathOrigin(kind: .stack, name: "the stack of thread 4711, started in Pump.run()"))
  }

  @Test func poolThreadIsNotNamedByItsFirstWork() throws {
    let origin = try root(of: 4711, stack: [0x1000_2000, 0x1000_2010, 0x1000_3000])
    #expect(origin.name == "the stack of thread 4711 of libdispatch")
  }

  @Test func mainThreadIsNamed() throws {
    // The main thread's ID equals the process ID.
    #expect(try root(of: 42, stack: [0x1000_3000]).name == "the stack of the main thread")
  }

  @Test func threadWithoutEventsHasOnlyItsNumber() throws {
    #expect(try root(of: 4711, stack: nil).name == "the stack of thread 4711")
    #expect(try root(of: 4711, stack: [0x1000_2000]).name == "the stack of thread 4711")
  }
}
