// Marks of programs, and the tasks of events, from the writer to the reader.

import Testing
import TraceTestSupport

@testable import TraceReading
@testable import TraceReports

@Suite struct MarkCodingTests {
  private static func mark(
    _ kind: TraceMark.Kind, _ table: MarkTable, time: UInt64, number: UInt64 = 0, name: String = "", file: String = "",
    line: UInt32 = 0,
    address: UInt64 = 0, deadline: UInt64 = 0, grace: UInt64 = 0, round: UInt32 = 0, snapshot: UInt32 = 0,
    scope: UInt64 = 0
  ) -> TraceMark {
    var mark = TraceMark(kind, time: time)
    (mark.round, mark.snapshot, mark.scope) = (round, snapshot, scope)
    (mark.number, mark.address, mark.deadline, mark.grace) = (number, address, deadline, grace)
    (mark.name, mark.file, mark.line) = (table.intern(name), table.intern(file), line)
    return mark
  }

  /// Returns a mark of each kind. Some numbers are at the limits of their ranges.
  private static func samples(_ table: MarkTable) -> [TraceMark] {
    [
      mark(.scopeBegin, table, time: 800, number: 1, name: "checkout", file: "Shop/Basket.swift", line: 7),
      mark(
        .expectation, table, time: 808, number: .max, name: "näm\u{1B}e", file: "", line: .max, address: .max,
        deadline: .max),
      mark(.generation, table, time: 816, name: "round", file: "Shop/Main.swift", line: 0),
      mark(.scopeEnd, table, time: 824, number: 1, grace: .max),
      mark(
        .round, table, time: 832, number: .max, name: "open", file: "Shop/Main.swift", line: 3, round: .max,
        snapshot: .max, scope: .max),
    ]
  }

  /// A mark with its texts in place of the numbers of the texts.
  private struct Spelled: Hashable {
    var mark: TraceMark
    var name: String
    var file: String
    init(_ mark: TraceMark, _ table: MarkTable) {
      (name, file) = (table.text(mark.name), table.text(mark.file))
      self.mark = mark
      (self.mark.name, self.mark.file) = (0, 0)
    }
  }

  private func decode(_ payload: [UInt8], _ table: MarkTable = MarkTable(), stacks: StackTree = StackTree()) -> (
    events: [TraceEvent], isWhole: Bool
  ) {
    let buffer = PayloadBuffer()
    buffer.resize(payload.count)
    for (index, byte) in payload.enumerated() { buffer.start[index] = byte }
    var decoder = EventDecoder(stacks: stacks, marks: table, referenceCounting: .withStacks, wanting: .all)
    defer { decoder.deallocate() }
    decoder.begin(buffer, firstTime: 0)
    var events: [TraceEvent] = []
    var event = TraceEvent()
    while true {
      switch decoder.next(&event) {
      case .event: events.append(event)
      case .end: return (events, true)
      case .damaged: return (events, false)
      }
    }
  }

  private func take(_ payload: [UInt8], _ table: MarkTable) -> (index: Int?, isDamaged: Bool) {
    payload.withUnsafeBufferPointer { bytes in
      var cursor = ByteCursor(bytes.baseAddress ?? UnsafePointer(bitPattern: 8)!, count: bytes.count)
      var isDamaged = false
      let index = table.take(&cursor, isDamaged: &isDamaged)
      return (index, isDamaged)
    }
  }

  @Test(arguments: [Int.max, 3, 1])
  func marksOfTwoThreadsKeepTheirPlaces(eventsPerChunk: Int) throws {
    var trace = TraceBuilder()
    trace.eventsPerChunk = eventsPerChunk
    for (index, mark) in Self.samples(trace.marks).enumerated() {
      trace.event(.malloc, UInt64(index + 1) * 0x100, size: 16, time: mark.time - 8, thread: 1)
      trace.mark(mark, thread: index % 2 == 0 ? 1 : 2)
    }
    let reader = try trace.reader()
    let events = CollectedEvents.of(reader)
    // Events are ordered by time, then by thread. The allocations have the time of the previous mark.
    let found = events.filter { $0.operation == .mark }
    #expect(
      found.map { Spelled(reader.marks.marks[Int($0.size)], reader.marks) }
        == Self.samples(trace.marks).map { Spelled($0, trace.marks) })
    #expect(found.map(\.time) == [800, 808, 816, 824, 832] && found.map(\.thread) == [1, 2, 1, 2, 1])
    #expect(found.map(\.address) == [0, .max, 0, 0, 0])
    #expect(events.count == 10 && reader.diagnostics.isEmpty)
  }

  @Test func marksAreNotCountedAsEvents() throws {
    var trace = TraceBuilder()
    for mark in Self.samples(trace.marks) { trace.mark(mark, thread: 2) }
    trace.event(.malloc, 0x100, size: 16, time: 800)
    trace.mark(Self.samples(trace.marks)[2])
    let reader = try trace.reader()
    #expect(reader.chunks.map(\.eventCount) == [1, 0])
    #expect((0..<2).map { ChunkWalker(reader).countEvents(inChunk: $0) } == [1, 0])
    let analysis = AllocationAnalysis(try trace.reader())
    #expect(analysis.eventCount == 1 && analysis.threads.map(\.events) == [1, 0])
  }

  @Test func secondPassReadsTheMarksAgain() throws {
    var trace = TraceBuilder()
    for mark in Self.samples(trace.marks) { trace.mark(mark) }
    let reader = try trace.reader()
    for _ in 0..<2 {
      #expect(CollectedEvents.of(reader).map(\.size) == [0, 1, 2, 3, 4])
      #expect(reader.marks.marks.count == 5)
    }
  }

  /// The bytes are written by hand from docs/engineering/trace-format.md.
  @Test func marksMatchTheFormatDocument() throws {
    let table = MarkTable()
    let decoded = decode(
      [
        // Scope 5 begins, with the name "name", the file "a/b" and line 9.
        0x34, 14, 1, 0x90, 0x03, 5, 4, 0x6E, 0x61, 0x6D, 0x65, 3, 0x61, 0x2F, 0x62, 9,
        0x34, 5, 2, 0x98, 0x03, 5, 64,  // the scope ends, with a grace of 64
        0x34, 6, 3, 0xA0, 0x03, 0, 0, 1,  // a generation without a name and a file, in line 1
        // Expectation 2 about 0x1000 is due at 512. Its line is missing.
        0x34, 10, 4, 0xA8, 0x03, 2, 0x80, 0x20, 0x80, 0x04, 0, 0,
      ], table)
    #expect(!decoded.isWhole && decoded.events.map(\.time) == [400, 408, 416])
    let whole = decode([0x34, 11, 4, 0xA8, 0x03, 2, 0x80, 0x20, 0x80, 0x04, 0, 0, 3], table)
    #expect(whole.isWhole && whole.events.map(\.address) == [0x1000])
    let marks = table.marks
    try #require(marks.count == 4)
    #expect(marks.map(\.kind) == [.scopeBegin, .scopeEnd, .generation, .expectation])
    #expect(
      marks.map(\.number) == [5, 5, 0, 2] && marks.map(\.line) == [9, 0, 1, 3] && marks[1].grace == 64
        && marks[3].deadline == 512)
    #expect(
      table.text(marks[0].name) == "name" && table.text(marks[0].file) == "a/b" && table.text(marks[2].name) == "")
  }

  @Test func truncatedMarkIsDamagedAndAddsNoMark() {
    let source = MarkTable()
    for mark in Self.samples(source) {
      let payload = source.encoded(mark)
      for length in 0..<payload.count {
        let table = MarkTable()
        let (index, isDamaged) = take(Array(payload.prefix(length)), table)
        #expect(index == nil && isDamaged && table.marks.isEmpty, "\(mark.kind) of \(length) bytes")
      }
      // A later version may add fields.
      let table = MarkTable()
      #expect(take(payload + [1, 2, 255], table).index == 0)
      #expect(Spelled(table.marks[0], table) == Spelled(mark, source))
    }
  }

  @Test func markOfAnUnknownKindIsSkipped() {
    let table = MarkTable()
    #expect(take([99, 0], table) == (nil, false))
    #expect(take([0, 0], table) == (nil, false))
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    encoder.append(TraceEvent(operation: .free, address: 0x10))
    encoder.appendControl(52, payload: [200, 1, 8, 1, 2, 3])
    encoder.append(TraceEvent(operation: .free, address: 0x20))
    let decoded = decode(encoder.payload, table)
    #expect(decoded.isWhole && decoded.events.map(\.address) == [0x10, 0x20] && table.marks.isEmpty)
  }

  @Test func damagedMarkEndsItsPayload() {
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    encoder.append(TraceEvent(operation: .free, address: 0x10))
    encoder.appendControl(52, payload: [1, 8])
    encoder.append(TraceEvent(operation: .free, address: 0x20))
    let decoded = decode(encoder.payload)
    #expect(!decoded.isWhole && decoded.events.map(\.address) == [0x10])
  }

  @Test func equalTextsAreSharedAndOversizedTextsAreEmpty() {
    let table = MarkTable()
    let first = table.intern("first")
    #expect(table.intern("first") == first && table.text(first) == "first" && table.intern("") == 0)
    let large = String(repeating: "x", count: 1 << 20)
    let numbers = (0..<20).map { table.intern("\($0)" + large) }
    let kept = numbers.prefix { $0 != 0 }
    #expect(kept.count == 15 && numbers.dropFirst(kept.count).allSatisfy { $0 == 0 })
    #expect(table.text(kept[3]) == "3" + large)
    // Known texts can still be looked up.
    #expect(table.intern("first") == first)
  }

  @Test func dumpsShowMarksAndTasks() throws {
    var trace = TraceBuilder()
    for mark in Self.samples(trace.marks) { trace.mark(mark) }
    trace.event(.malloc, 0x100, size: 16, time: 840, task: 0x7060)
    trace.event(.free, 0x100, time: 848)
    let expected = [
      "thread=1 time=0.000000800 scope_begin number=1 line=7 file=Shop/Basket.swift name=checkout",
      #"expectation number=18446744073709551615 address=0xffffffffffffffff due_time="#,
      "line=4294967295 file= name=näm\\u{1b}e",
      "thread=1 time=0.000000816 generation line=0 file=Shop/Main.swift name=round",
      "thread=1 time=0.000000824 scope_end number=1 grace=18446744073709551615",
      "round repetition=18446744073709551615 round=4294967295 snapshot=4294967295 scope=18446744073709551615 line=3 file=Shop/Main.swift name=open",
      "malloc address=0x100 size=16 task=0x7060 stack=0", "free address=0x100 stack=0",
    ]
    var inOrder: [String] = []
    try RecordDump(trace.reader(), parts: [.events]).write { inOrder.append($0) }
    var byTime: [String] = []
    try RecordDump(trace.reader(), parts: [.events]).writeEventsByTime { byTime.append($0) }
    for lines in [inOrder, byTime] {
      #expect(lines.count == 7)
      let text = lines.joined()
      for part in expected { #expect(text.contains(part), "\(part)") }
    }
  }
}

@Suite struct StackChangeTests {
  @Test(arguments: 0..<20)
  func eventsReportTheUnchangedPartOfTheStack(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var trace = TraceBuilder()
    trace.eventsPerChunk = [Int.max, 10, 1][Int(seed % 3)]
    let stacks = (0..<12).map { _ in trace.stack((0..<random.next() % 6).map { _ in 1 + random.next() % 2 }) }
    var task: UInt64 = 0
    for n in 0..<200 as Range<UInt64> {
      if random.oneIn(8) { task = [0, 0x7000, 0x8000].randomElement(using: &random)! }
      let operation: TraceReading.Operation = random.oneIn(3) ? .free : .malloc
      trace.event(
        operation, 16 * (n + 1), size: operation == .malloc ? 8 : 0, stack: stacks.randomElement(using: &random)!,
        time: 8 * n, task: task)
    }
    let sent = try #require(trace.events[1])
    let reader = try trace.reader()
    let events = CollectedEvents.of(reader)
    #expect(events.map(\.task) == sent.map(\.task))
    for (index, event) in events.enumerated() {
      let keys = trace.stacks.keys(of: sent[index].stack)
      #expect(event.depth == UInt32(keys.count))
      let begins = index % min(trace.eventsPerChunk, 200) == 0
      #expect(event.isStackNew == (begins || sent[index].task != sent[index - 1].task))
      if begins { continue }
      let kept = zip(keys, trace.stacks.keys(of: sent[index - 1].stack)).prefix { $0 == $1 }.count
      #expect(event.keptDepth == UInt32(kept))
    }
  }

  @Test func unrequestedStacksAreKnownIfNoOtherStackDependsOnThem() throws {
    var trace = TraceBuilder()
    let (a, b) = (trace.stack([1, 2]), trace.stack([1, 3]))
    for (stack, task) in [(a, 0), (b, 0), (a, 0x7000), (b, 0x7000)] as [(StackID, UInt64)] {
      trace.event(.free, 0x100, stack: stack, time: 8, task: task)
    }
    struct Sink: EventSink {
      var stacks: [StackID] = []
      mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
        stacks.append(event.stack)
        return .taken
      }
    }
    let reader = try trace.reader()
    var sink = Sink()
    reader.replay(into: &sink, stacks: .allocations)
    #expect(
      sink.stacks.map { $0 == .unknown ? [] : reader.definitions.stacks.keys(of: $0) } == [[1, 2], [], [1, 2], []])
  }

  @Test func framesPoppedAndPushedAgainCountAsChanged() {
    let push: [UInt8] = [0, 2, 0, 2, 0, 2]  // keys 1 and 2
    let buffer = PayloadBuffer()
    // malloc with both keys; a stack change that pops and pushes both again; a mark; malloc without a change.
    let payload: [UInt8] =
      [0x42, 0] + push + [8] + [0x33, 2, 2, 0] + [0x33, 6, 0, 2, 0, 1, 0, 2] + [0x34, 5, 3, 8, 0, 0, 1] + [
        0x02, 0, 0, 0,
      ]
    buffer.resize(payload.count)
    for (index, byte) in payload.enumerated() { buffer.start[index] = byte }
    let tree = StackTree()
    var decoder = EventDecoder(stacks: tree, marks: MarkTable(), referenceCounting: .withStacks, wanting: .all)
    defer { decoder.deallocate() }
    decoder.begin(buffer, firstTime: 0)
    var event = TraceEvent()
    var found: [(depth: UInt32, kept: UInt32)] = []
    while case .event = decoder.next(&event) { found.append((event.depth, event.keptDepth)) }
    #expect(decoder.offset == payload.count)
    #expect(found.map(\.depth) == [2, 2, 2])
    // The mark does not affect the fields of the following event.
    #expect(found.map(\.kept) == [0, 0, 0])
    #expect(event.stack == tree.stack([1, 2]))
  }
}
