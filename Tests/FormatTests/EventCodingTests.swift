import Testing
import TraceTestSupport

@testable import TraceAnalysis

/// Decodes a payload with the decoder alone.
func decode(_ payload: [UInt8], firstTime: UInt64) -> (events: [TraceEvent], isWhole: Bool) {
  let buffer = PayloadBuffer()
  buffer.resize(payload.count)
  for (index, byte) in payload.enumerated() { buffer.start[index] = byte }
  var decoder = EventDecoder()
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

/// Events of every operation with operands from the whole of their ranges.
func randomEvents(_ count: Int, _ random: inout SeededRandom) -> [TraceEvent] {
  let operations = (1..<UInt8(Operation.limit)).map { Operation(rawValue: $0) }.filter { $0.effect != .unknown }
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
    let stack = random.oneIn(50) ? UInt32.max - UInt32(random.next() % 3) : UInt32(random.next() % 20)
    let size = random.oneIn(20) ? random.next() : random.next() % 4
    return TraceEvent(
      operation: operation, address: address, size: operation.hasOperands ? size : 0,
      type: operation == .object ? (random.oneIn(20) ? UInt32.max : UInt32(random.next() % 3)) : 0, stack: StackID(stack), time: time)
  }
}

@Suite struct EventCodingTests {
  @Test(arguments: 0..<50)
  func eventsAreDecodedAsTheyWereEncoded(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let events = randomEvents(500, &random)
    let encoder = EventEncoder()
    encoder.begin(firstTime: events[0].time)
    encoder.makeTimesExact()
    for event in events { encoder.append(event) }
    let decoded = decode(encoder.payload, firstTime: events[0].time)
    #expect(decoded.isWhole)
    #expect(decoded.events.map(\.content) == events.map(\.content))
  }

  @Test func decodedEventsEncodeToTheSamePayload() {
    var random = SeededRandom(seed: 99)
    let encoder = EventEncoder()
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    for event in randomEvents(2000, &random) { encoder.append(event) }
    let payload = encoder.payload
    let decoded = decode(payload, firstTime: 0).events
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    for event in decoded { encoder.append(event) }
    #expect(encoder.payload == payload)
  }

  @Test func eventsWithoutTimesTakeThatOfTheLastTimeRecord() {
    let encoder = EventEncoder()
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
    let encoder = EventEncoder()
    encoder.begin(firstTime: 0)
    encoder.append(TraceEvent(operation: .free, address: 0x10))
    encoder.appendControl(63, payload: [1, 2, 3, 255])
    encoder.append(TraceEvent(operation: .free, address: 0x20))
    let decoded = decode(encoder.payload, firstTime: 0)
    #expect(decoded.isWhole)
    #expect(decoded.events.map(\.address) == [0x10, 0x20])
  }

  @Test func aSteadyLoopTakesTwoBytesAnEvent() {
    let encoder = EventEncoder()
    encoder.begin(firstTime: 0)
    for _ in 0..<1000 {
      encoder.append(TraceEvent(operation: .malloc, address: 0x1000, size: 32, stack: StackID(5)))
      encoder.append(TraceEvent(operation: .free, address: 0x1000, stack: StackID(6)))
    }
    #expect(encoder.count < 2000 + 32)
  }

  @Test func aPayloadCutAnywhereGivesTheEventsBeforeTheCut() {
    var random = SeededRandom(seed: 7)
    let encoder = EventEncoder()
    encoder.begin(firstTime: 0)
    encoder.makeTimesExact()
    var ends = [encoder.count]
    let events = randomEvents(200, &random)
    for event in events {
      encoder.append(event)
      ends.append(encoder.count)
    }
    let all = decode(encoder.payload, firstTime: 0).events
    for length in 0...encoder.count {
      let part = decode(Array(encoder.payload.prefix(length)), firstTime: 0)
      let whole = ends.lastIndex { $0 <= length } ?? 0
      #expect(part.events == Array(all.prefix(whole)))
      #expect(part.isWhole == (length == 0 || ends.contains(length)))
    }
  }

  /// The payload written by hand from docs/trace-format.md, so that encoder and decoder cannot agree on a mistake.
  @Test func payloadsReadAsTheFormatSays() {
    let payload: [UInt8] = [
      0x42, 0x06, 0x0A, 0x80, 0x02, 0x20,  // malloc, new pair, address 0 + 16 × 128, stack 5, size 32
      0x10, 0x00, 0x02,  // free of the latest address, stack 6
      0x02, 0x24, 0x01,  // malloc, 16 further, stack 5, size as before
      0x80 | 0x00,  // what followed malloc at 5: free at 6, of the latest address
      0x80 | 0x40 | 0x04, 0x07,  // and again malloc; the successor of this address is not known: 0. size 7
    ]
    let decoded = decode(payload, firstTime: 0)
    #expect(decoded.isWhole)
    #expect(
      decoded.events.map(\.content) == [
        TraceEvent(operation: .malloc, address: 0x800, size: 32, stack: StackID(5)),
        TraceEvent(operation: .free, address: 0x800, stack: StackID(6)),
        TraceEvent(operation: .malloc, address: 0x810, size: 32, stack: StackID(5)),
        TraceEvent(operation: .free, address: 0x810, stack: StackID(6)),
        TraceEvent(operation: .malloc, address: 0, size: 7, stack: StackID(5)),
      ])
  }

  @Test func operandsOnAnOperationWithoutAreDamage() {
    #expect(!decode([0x40 | 16, 0, 0, 5], firstTime: 0).isWhole)
  }

  @Test func aPredictionOfNothingIsDamage() {
    #expect(!decode([0x80], firstTime: 0).isWhole)
  }

  @Test func stacksOutsideTheirRangeAreDamage() {
    #expect(!decode([16, 0, 0x01], firstTime: 0).isWhole)
    #expect(!decode([16, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], firstTime: 0).isWhole)
  }

  @Test func numbersOfMoreThan64BitsAreDamage() {
    #expect(!decode([0x42, 0, 0] + Array(repeating: 0xFF, count: 9) + [0x02], firstTime: 0).isWhole)
    #expect(!decode([0x42, 0, 0] + Array(repeating: 0xFF, count: 20), firstTime: 0).isWhole)
  }
}
