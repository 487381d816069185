// The rows of tasks of a known layout: the words for their waits, and the number of names that are looked up.

import CHeapScan
import Testing
import TraceTestSupport
import Wording

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct TaskRowTests {
  private typealias Task = HeapBuilder.Object

  /// Names code, and counts the look-ups. Some addresses have no symbol, as in a library without local symbols.
  private final class Names: FrameNaming {
    private let table: FunctionTable
    private let nameless: Set<UInt64>
    private(set) var count = 0
    var remarks: [String] { [] }

    init(_ functions: [UInt64: String], nameless: Set<UInt64> = []) {
      (table, self.nameless) = (FunctionTable(functions), nameless)
    }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      count += 1
      guard nameless.contains(key.address.rawValue) else {
        var frames = table.frames(for: key, in: image)
        if key.address.rawValue == TaskRowTests.caller { frames[0].asyncPart = .afterAwait(index: 0) }
        return frames
      }
      return [
        SourceFrame(
          function: "libswift_Concurrency.so+0x3dd30", fullFunction: "libswift_Concurrency.so+0x3dd30",
          mangledName: nil,
          imagePath: "/lib/libswift_Concurrency.so", file: nil, line: nil, column: nil, isInlined: false,
          kind: .systemLibrary, isAsync: false, asyncPart: nil)
      ]
    }

    func line(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> Int? {
      count += 1
      return nil
    }
  }

  private let heap = HeapBuilder()
  /// Offsets in a task as Swift 6.3.1 makes it, with 512 bytes for its frames after the initial context.
  private let slab: UInt64 = 304
  private let context: UInt64 = 272
  private let used: UInt64 = 240
  /// The places where functions resume: the innermost one, its caller, and the task's first function.
  private static let (inner, caller, first): (UInt64, UInt64, UInt64) = (0x1000_3040, 0x1000_3100, 0x1000_3200)
  private static let begin: UInt64 = 0x1000_3000

  init() {
    heap.type("App.Gate", fields: [HeapBuilder.field("waiting", 0)])
    heap.layOutTasksAsKnown()
  }

  /// Makes a task that is suspended in three functions. `subject`: the awaited thing; nil for a continuation.
  private func task(on subject: UInt64? = nil, outer: UInt64? = nil) -> Task {
    let task = heap.malloc(840)
    let (frame, record) = (task.address + slab + 64, task.address + slab + used)
    let words: [(UInt64, UInt64?)] = [
      (0, HeapBuilder.taskMetadata), (8, 3), (56, Self.inner), (64, frame), (104, record), (112, record - 16),
      (120, task.address + slab), (160, record), (context - 24, Self.begin), (context + 8, Self.first),
      (slab, HeapBuilder.slabMetadata), (slab + 16, 480 | (used + 48 - 32) << 32),
    ]
    for (offset, word) in words { heap.words[task.address + offset] = word }
    (heap.words[frame], heap.words[frame + 8]) = (task.address + context, Self.caller)
    heap.words[record - 8] = task.address + slab
    heap.words[record + 8] = outer
    heap.words[record + 16] = subject ?? frame
    heap.words[record + 40] = task.address
    return task
  }

  /// Makes a variable with an object that leads to a task.
  private func hold(_ task: Task) {
    let gate = heap.object("App.Gate")
    heap.global(gate)
    heap.set(gate, 0, task)
  }

  private func inventory(_ inner: String, nameless: Set<UInt64> = []) throws -> TaskInventory {
    let names = Names(
      [
        Self.inner: inner, Self.caller: "Reader.run()", Self.first: "system completion",
        Self.begin: "closure #1 in main()",
      ],
      nameless: nameless)
    return try heap.analysis(naming: names).taskInventory()
  }

  // MARK: Words

  @Test(
    "A wait for an element of a stream is told from other waits by the library's function",
    arguments: [
      ("system AsyncStream.Iterator.next(isolation:)", true), ("system AsyncThrowingStream.Iterator.next()", true),
      ("system AsyncStream<Int>._Storage.next()", true), ("AsyncStream.Reader.next()", false),
      ("system AsyncChannel.Iterator.next()", false),
    ])
  func stream(function: String, isStream: Bool) throws {
    hold(task())
    let rows = try inventory(function).rows
    #expect(rows.map(\.wait) == [isStream ? .stream : .continuation])
    let words = isStream ? "1 waiting for an element of a stream" : "1 waiting for a continuation"
    #expect(rows.map(TaskWords.title) == [words])
    #expect(rows.map(TaskWords.resumer) == ["Resumed through Gate.waiting, which a variable of app leads to"])
  }

  @Test("A wait in next() of a group is for its children, whatever the function is called", arguments: [false, true])
  func group(isStuck: Bool) throws {
    let parent = task()
    let group = parent.address + slab + 128
    let child = task()
    heap.words[group] = 0x1000_B000
    (heap.words[group + 16], heap.words[group + 24], heap.words[group + 88]) = (
      child.address, child.address, parent.address
    )
    let record = parent.address + slab + used
    (heap.words[record + 8], heap.words[record + 16]) = (group + 8, group)
    (heap.words[child.address + 208], heap.words[child.address + 224]) = (parent.address, group)
    if !isStuck { hold(child) }
    let inventory = try inventory("system TaskGroup.next(isolation:)")
    let row = try #require(inventory.rows.first { $0.wait == .group })
    #expect(inventory.tasks.map(\.group?.rawValue) == [nil, group] && inventory.tasks.map(\.parent) == [nil, 0])
    #expect(TaskWords.title(row) == "1 waiting for a child of a group")
    #expect(TaskWords.resumer(row) == (isStuck ? "It waits for a task that never ends" : nil))
    #expect(row.isLeaked == isStuck && row.wait?.key == "group")
    let tree = TaskTree(inventory)
    let titles = tree.nodes.map { TaskWords.title($0, inventory.rows[$0.row]) }
    #expect(
      titles == [
        "1 waiting for a child of a group",
        "1 in 1 group: waiting for a continuation" + (isStuck ? ", no code can resume it" : ""),
      ])
  }

  // MARK: Names

  @Test("Names are looked up for rows, and not for tasks") func lookups() throws {
    func count(_ tasks: Int) throws -> Int {
      let test = Self()
      for _ in 0..<tasks { test.hold(test.task()) }
      let names = Names([Self.inner: "Inbox.next()", Self.caller: "Reader.run()", Self.first: "system completion"])
      let analysis = try test.heap.analysis(naming: names)
      let before = names.count
      let inventory = analysis.taskInventory()
      #expect(inventory.rows.map(\.count) == [tasks])
      return names.count - before
    }
    let few = try count(2)
    #expect(try few > 0 && count(200) == few)
  }

  // MARK: Sleeps

  /// Makes the timer of a task's sleep, and the task that the runtime makes for it. Returns that task.
  @discardableResult
  private func sleep(of sleeper: Task, clock: UInt64 = 1) -> Task {
    heap.type("closure", kind: .closureContext, fields: nil)
    let (timer, handler, wake) = (heap.malloc(128), heap.malloc(64), heap.malloc(840))
    let (token, closure) = (heap.malloc(24), heap.object("closure", size: 32))
    let words: [(UInt64, UInt64?)] = [
      (0, HeapBuilder.taskMetadata), (8, 3), (56, Self.first), (64, wake.address + context),
      (context - 24, Self.first), (context - 16, closure.address), (context + 8, Self.first),
    ]
    for (offset, word) in words { heap.words[wake.address + offset] = word }
    heap.words[timer.address] = 0x1000_D000
    heap.words[timer.address + UInt64(SWIFT_TIMER_FLAGS)] = UInt64(SWIFT_TIMER_IS_TIMER) << 40 | clock << 50
    heap.words[timer.address + UInt64(SWIFT_TIMER_TARGET)] = 5_000_000_000
    heap.words[timer.address + UInt64(SWIFT_TIMER_HANDLER)] = handler.address
    heap.words[handler.address + 40] = wake.address
    heap.words[closure.address + 16] = token.address
    heap.words[token.address] = sleeper.address
    heap.global(timer)
    return wake
  }

  /// Libraries of Debian 13 have no local symbols, so the parts of `Task.sleep(nanoseconds:)` have no names.
  @Test(
    "A sleep in a library without local symbols is recognised by its timer", arguments: [false, true], [false, true])
  func namelessSleep(hasTimer: Bool, isNameless: Bool) throws {
    let sleeper = task()
    hold(sleeper)
    if hasTimer { sleep(of: sleeper) }
    let nameless: Set<UInt64> = isNameless ? [Self.inner, Self.first] : []
    let found = try inventory("system AsyncChannel.Iterator.next()", nameless: nameless)
    let row = try #require(found.rows.first { $0.state == .waiting })
    #expect(row.wait == (hasTimer && isNameless ? .sleep : .continuation))
    // A timer cannot make another function a sleep. Then the second task is not known to be the runtime's own.
    #expect(found.tasks.count == (hasTimer && !isNameless ? 2 : 1))
    let slept = found.tasks.compactMap(\.timer)
    #expect(
      slept.map(\.clock) == (hasTimer && isNameless ? [.continuous] : [])
        && slept.allSatisfy { $0.target == 5_000_000_000 })
  }

  @Test("A sleep that has ended or was cancelled leaves no sleep", arguments: [1, 2] as [UInt64])
  func endedSleep(state: UInt64) throws {
    let sleeper = task()
    hold(sleeper)
    sleep(of: sleeper)
    let token = try #require(heap.words.first { $0.value == sleeper.address && $0.key & 0xFFFF == 0 }?.key)
    heap.words[token] = state
    let found = try inventory("next()", nameless: [Self.inner, Self.first])
    #expect(found.rows.contains { $0.wait == .continuation } && !found.rows.contains { $0.wait == .sleep })
  }
}
