import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReading

/// Decodes a payload with the decoder only.
func decode(
  _ payload: [UInt8], firstTime: UInt64, stacks: StackTree = StackTree(),
  referenceCounting: TraceHeader.ReferenceCounting = .withStacks
) -> (events: [TraceEvent], isWhole: Bool) {
  let buffer = PayloadBuffer()
  buffer.resize(payload.count)
  for (index, byte) in payload.enumerated() { buffer.start[index] = byte }
  var decoder = EventDecoder(stacks: stacks, marks: MarkTable(), referenceCounting: referenceCounting, wanting: .all)
  defer { decoder.deallocate() }
  decoder.begin(buffer, firstTime: firstTime)
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

/// Returns stacks that share their outer frames. Some are recursive, and some very deep.
func randomStacks(_ tree: StackTree, _ random: inout SeededRandom) -> [StackID] {
  var keys: [UInt64] = []
  return (0..<40).map { _ in
    keys.removeLast(min(keys.count, Int(random.next() % 12)))
    switch random.next() % 12 {
    case 0: keys += Array(repeating: random.next() % 4, count: Int(random.next() % 60))
    case 1:
      let cycle = (0..<1 + random.next() % 5).map { _ in 0x40_0000 + random.next() % 0x1000 }
      for index in 0..<Int(random.next() % 300) { keys.append(cycle[index % cycle.count]) }
    case 2: keys = []
    case 3: keys.append(random.next())
    default: for _ in 0..<random.next() % 9 { keys.append(0x40_0000 + random.next() % 0x200) }
    }
    return tree.stack(keys)
  }
}

/// Returns events of every operation. The operands are from the whole of their ranges.
func randomEvents(_ count: Int, _ tree: StackTree, _ random: inout SeededRandom) -> [TraceEvent] {
  let operations = (1..<UInt8(Operation.limit)).map { Operation(rawValue: $0) }.filter { $0.effect != .unknown }
  let stacks = randomStacks(tree, &random)
  var addresses: [UInt64] = [0x1000]
  var time: UInt64 = 1 << 40
  return (0..<count).map { _ in
    let operation = operations.randomElement(using: &random)!
    let address: UInt64 =
      switch random.next() % 6 {
      case 0: random.next()
      case 1: addresses.last! &+ 16 &* (random.next() % 40)
      case 2: addresses.last! &- 16 &* (random.next() % 40)
      case 3: addresses.last! &+ random.next() % 64
      default: addresses.randomElement(using: &random)!
      }
    addresses.append(address)
    if addresses.count > 50 { addresses.removeFirst() }
    if random.oneIn(3) { time += 8 &* (random.next() % (1 << (random.next() % 30))) }
    let size = random.oneIn(20) ? random.next() : random.next() % 4
    return TraceEvent(
      operation: operation, address: address, size: operation.hasOperands ? size : 0,
      type: operation == .object ? (random.oneIn(20) ? UInt32.max : UInt32(random.next() % 3)) : 0,
      stack: stacks[Int(random.next() % (random.oneIn(4) ? 40 : 5))], time: time)
  }
}

@Suite struct EventCodingTests {
  @Test(arguments: 0..<50)
  func eventsRoundTrip(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let tree = StackTree()
    let events = randomEvents(500, tree, &random)
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: events[0].time)
    encoder.makeTimesExact()
    for event in events { encoder.append(event) }
    let decoded = decode(encoder.payload, firstTime: events[0].time, stacks: tree)
    #expect(decoded.isWhole)
    #expect(decoded.events.map(\.content) == events.map(\.content))
  }

  @Test(arguments: 0..<10)
  func retainsWithoutStacksKeepOtherStacks(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let tree = StackTree()
    let events = randomEvents(500, tree, &random)
    let encoder = EventEncoder(stacks: tree, referenceCounting: .countsOnly)
    encoder.begin(firstTime: events[0].time)
    encoder.makeTimesExact()
    for event in events { encoder.append(event) }
    let decoded = decode(encoder.payload, firstTime: events[0].time, stacks: tree, referenceCounting: .countsOnly)
    #expect(decoded.isWhole)
    for (found, event) in zip(decoded.events, events) {
      let hasStack = !event.operation.countsReferences
      #expect(
        found.stack == (hasStack ? event.stack : .empty) && found.address == event.address && found.size == event.size)
    }
  }

  @Test func decodedEventsEncodeToTheSamePayload() {
    var random = SeededRandom(seed: 99)
    let tree = StackTree()
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    for event in randomEvents(2000, tree, &random) { encoder.append(event) }
    let payload = encoder.payload
    let decoded = decode(payload, firstTime: 0, stacks: tree).events
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    for event in decoded { encoder.append(event) }
    #expect(encoder.payload == payload)
  }

  @Test func eventsWithoutTimesUseTheLastTimeRecord() {
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 1000)
    let event = TraceEvent(operation: .malloc, address: 0x100, size: 1)
    encoder.append(event)
    encoder.advance(to: 2000)
    encoder.append(event)
    encoder.append(event)
    encoder.makeTimesExact()
    var late = event
    late.time = 2080
    encoder.append(late)
    #expect(decode(encoder.payload, firstTime: 1000).events.map(\.time) == [1000, 2000, 2000, 2080])
  }

  @Test func unknownControlRecordsAreSkipped() {
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    encoder.append(TraceEvent(operation: .free, address: 0x10))
    encoder.appendControl(63, payload: [1, 2, 3, 255])
    encoder.append(TraceEvent(operation: .free, address: 0x20))
    let decoded = decode(encoder.payload, firstTime: 0)
    #expect(decoded.isWhole)
    #expect(decoded.events.map(\.address) == [0x10, 0x20])
  }

  @Test func steadyLoopTakesOneBytePerEvent() {
    let tree = StackTree()
    let (inner, outer) = (tree.stack([0x10, 0x20, 0x30]), tree.stack([0x10, 0x20, 0x40]))
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: 0)
    for _ in 0..<1000 {
      encoder.append(TraceEvent(operation: .malloc, address: 0x1000, size: 32, stack: inner))
      encoder.append(TraceEvent(operation: .free, address: 0x1000, stack: outer))
    }
    #expect(encoder.count < 2000 + 64)
  }

  @Test func truncatedPayloadKeepsTheEventsBeforeTheCut() {
    var random = SeededRandom(seed: 7)
    let tree = StackTree()
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    var ends = [encoder.count]
    let events = randomEvents(150, tree, &random)
    for event in events {
      encoder.append(event)
      ends.append(encoder.count)
    }
    let all = decode(encoder.payload, firstTime: 0, stacks: tree).events
    for length in 0...encoder.count {
      let part = decode(Array(encoder.payload.prefix(length)), firstTime: 0, stacks: tree)
      let whole = ends.lastIndex { $0 <= length } ?? 0
      #expect(part.events == Array(all.prefix(whole)))
      #expect(part.isWhole == (length == 0 || ends.contains(length)))
    }
  }

  /// The payload is written by hand from docs/engineering/trace-format.md. So a mistake that encoder and decoder share
  /// is found.
  @Test func payloadMatchesTheFormatDocument() {
    // The index of key 0x1010 in the dictionary, calculated with the format's multiplier and shift.
    let token = 1 + (0x1010 as UInt64 &* 0x9E37_79B9_7F4A_7C15) >> 52
    let tokenBytes: [UInt8] = [UInt8(token & 0x7F) | 0x80, UInt8(token >> 7)]
    let payload: [UInt8] =
      [
        // malloc with operands and address code 6. Pops 0, and pushes 2 keys: 0x1000, and 0x10 more. The address is 0 +
        // 16 × 128. The size is 32.
        0x42, 0x06, 0, 2, 0, 0x80, 0x40, 0, 0x20, 0x80, 0x02, 0x20,
        // free of the latest address. Pops 1, and pushes 1 key: 0x1010 + 0xFF0.
        0x10, 0x00, 1, 1, 0, 0xE0, 0x3F,
        // malloc at an address 16 further, with the last size of this context. Pops 1, and pushes 1 known key.
        0x02, 0x24, 1, 1,
      ] + tokenBytes + [
        // The event that followed the malloc of this context last time: free of the latest address.
        0x80 | 0x00,
        // malloc again, at the successor of this address. The successor is not known, so it is 0. The size is 7.
        0x80 | 0x40 | 0x04, 0x07,
        // A separate stack change. Pops 0, and pushes 5 keys. Each is a copy of the key before the innermost, so two
        // keys alternate.
        0x33, 5, 0, 5, 0x82, 0x20, 5,
        // free of the previous address. The stack does not change.
        0x10, 0x01, 0, 0,
      ]
    let tree = StackTree()
    let decoded = decode(payload, firstTime: 0, stacks: tree)
    #expect(decoded.isWhole)
    let (inner, other) = (tree.stack([0x1000, 0x1010]), tree.stack([0x1000, 0x2000]))
    #expect(
      decoded.events.map(\.content) == [
        TraceEvent(operation: .malloc, address: 0x800, size: 32, stack: inner),
        TraceEvent(operation: .free, address: 0x800, stack: other),
        TraceEvent(operation: .malloc, address: 0x810, size: 32, stack: inner),
        TraceEvent(operation: .free, address: 0x810, stack: other),
        TraceEvent(operation: .malloc, address: 0, size: 7, stack: inner),
        TraceEvent(
          operation: .free, address: 0x810, stack: tree.stack([0x1000, 0x1010, 0x1000, 0x1010, 0x1000, 0x1010, 0x1000])),
      ])
  }

  /// The recorder writes a type only once for each context. It compares a size with the context's last size, which may
  /// come from another operation.
  @Test func objectKeepsItsTypeWhenUntypedAllocationsShareItsContext() throws {
    func varint(_ value: UInt64) -> [UInt8] {
      value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }
    let key: UInt64 = 0x1000
    let context = lt_context_index(UInt32(LT_OP_OBJECT.rawValue), key, 0)
    let other = try #require(
      (0x2000...0x9000).first { lt_context_index(UInt32(LT_OP_MALLOC.rawValue), $0, 0) == context })
    let payload: [UInt8] =
      // An object of 48 bytes and type 7, with a stack of one key.
      [0x41, 0x06, 0, 1, 0] + varint(2 * key) + [0x80, 0x02, 48, 7]
      // malloc of 32 bytes with another stack, and malloc of 48 bytes.
      + [0x42, 0x00, 1, 1, 0] + varint(2 * (other - key)) + [32] + [0x42, 0x00, 0, 0, 48]
      // The object's stack again. Size and type are unchanged.
      + [0x01, 0x00, 1, 1, 0] + varint(2 * (other - key) - 1)
    let tree = StackTree()
    let decoded = decode(payload, firstTime: 0, stacks: tree)
    #expect(decoded.isWhole)
    let (objects, blocks) = (tree.stack([key]), tree.stack([other]))
    #expect(
      decoded.events.map(\.content) == [
        TraceEvent(operation: .object, address: 0x800, size: 48, type: 7, stack: objects),
        TraceEvent(operation: .malloc, address: 0x800, size: 32, stack: blocks),
        TraceEvent(operation: .malloc, address: 0x800, size: 48, stack: blocks),
        TraceEvent(operation: .object, address: 0x800, size: 48, type: 7, stack: objects),
      ])
  }

  @Test func operandsForAnOperationWithoutOperandsAreDamage() {
    #expect(!decode([0x40 | 16, 0, 0, 0, 5], firstTime: 0).isWhole)
  }

  @Test func predictionWithoutHistoryIsDamage() {
    #expect(!decode([0x80], firstTime: 0).isWhole)
  }

  @Test func impossibleStackChangesAreDamage() {
    let changes: [[UInt8]] = [
      [1, 0],  // a pop of nothing
      [0, 1],  // a push that is not there
      [0, 1, 0x81, 0x20, 1],  // a copy of nothing
      [0, 2, 0, 2, 0x81, 0x20, 0],  // a copy of no keys
      [0, 2, 0, 2, 0x81, 0x20, 2],  // a copy of more keys than the push has left
      [0, 2, 0, 2, 0x82, 0x20, 1],  // a copy from a frame outside of the stack
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0],
      [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    ]
    for change in changes {
      #expect(!decode([16, 0] + change, firstTime: 0).isWhole)
      #expect(!decode([0x33, UInt8(change.count)] + change, firstTime: 0).isWhole)
    }
    // The change is longer than its control record, and then shorter.
    #expect(!decode([0x33, 1, 0, 0], firstTime: 0).isWhole)
    #expect(!decode([0x33, 3, 0, 0, 0], firstTime: 0).isWhole)
    #expect(decode([0x33, 2, 0, 0], firstTime: 0).isWhole)
  }

  @Test func stacksDeeperThanTheFileJustifiesAreDamage() {
    let tree = StackTree()
    // The limit for a file of a few bytes is 4 Mi frames for all threads together.
    tree.prepare(images: [], limits: ReadingLimits(fileSize: 100))
    // A literal key and 2^20 copies of it take a dozen bytes.
    let deep: [UInt8] = [16, 0, 0, 0x81, 0x80, 0x40, 0, 2, 0x81, 0x20, 0x80, 0x80, 0x40]
    #expect(decode(deep, firstTime: 0, stacks: tree).events.count == 1)
    #expect(tree.nodeCount > 1 << 20)
    #expect(tree.overflowCount == 0)
    for _ in 0..<10 { #expect(decode(deep, firstTime: 0, stacks: tree).isWhole) }
    var held: [EventDecoder] = []
    var refused = 0
    let buffer = PayloadBuffer()
    buffer.resize(deep.count)
    for (index, byte) in deep.enumerated() { buffer.start[index] = byte }
    for _ in 0..<10 {
      var decoder = EventDecoder(stacks: tree, marks: MarkTable(), referenceCounting: .withStacks, wanting: .none)
      decoder.begin(buffer, firstTime: 0)
      var event = TraceEvent()
      if case .damaged = decoder.next(&event) { refused += 1 }
      held.append(decoder)
    }
    #expect(refused > 5 && refused < 10)
    for decoder in held { decoder.deallocate() }
    #expect(decode(deep, firstTime: 0, stacks: tree).isWhole)
  }

  @Test func numbersOfMoreThan64BitsAreDamage() {
    #expect(!decode([0x42, 0, 0, 0] + Array(repeating: 0xFF, count: 9) + [0x02], firstTime: 0).isWhole)
    #expect(!decode([0x42, 0, 0, 0] + Array(repeating: 0xFF, count: 20), firstTime: 0).isWhole)
  }
}
