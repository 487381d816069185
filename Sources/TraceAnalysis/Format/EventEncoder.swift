// Encoding events as the recorder does: for tests, and for tools that write traces.

import CTraceFormat

/// Builds one events payload after another. Times are kept in steps of 8 ticks: what lies between is lost downwards.
public final class EventEncoder {
  private var state = EventCodingState()
  private var output = ByteBuilder()
  private var firstTime: UInt64 = 0
  public private(set) var eventCount: UInt64 = 0

  public init() {}

  deinit { state.deallocate() }

  /// Bytes of the payload so far.
  public var count: Int { output.bytes.count }
  /// The time that a decoder will have reached here.
  public var time: UInt64 { state.time }

  /// Begins a payload whose chunk has `firstTime`.
  public func begin(firstTime: UInt64) {
    self.firstTime = firstTime
    state.begin(firstTime: firstTime)
    output.bytes.removeAll(keepingCapacity: true)
    eventCount = 0
  }

  /// The payload so far.
  public var payload: [UInt8] { output.bytes }

  /// From here on every event carries its time.
  public func makeTimesExact() {
    output.byte(UInt8(LT_CONTROL_EXACT_TIME))
    output.varint(0)
    state.isExact = true
  }

  /// Says what time it is, for events that do not. Times before the last one are ignored.
  public func advance(to time: UInt64) {
    let steps = time > state.time ? (time - state.time) >> UInt64(LT_TIME_SHIFT) : 0
    var ticks = ByteBuilder()
    ticks.varint(steps)
    output.byte(UInt8(LT_CONTROL_TIME))
    output.blob(ticks.bytes)
    state.time += steps << UInt64(LT_TIME_SHIFT)
  }

  /// Writes a control record of any number, as a later version might.
  public func appendControl(_ kind: UInt8, payload: [UInt8]) {
    output.byte(kind & UInt8(LT_TAG_LOW_MASK))
    output.blob(payload)
  }

  /// Appends an event. Its time counts only once times are exact.
  public func append(_ event: TraceEvent) {
    let pair = UInt64(event.stack.rawValue) << 8 | UInt64(event.operation.rawValue)
    let predictionIndex = EventCodingState.siteIndex(state.previous)
    let isPredicted = state.prediction[predictionIndex] == pair
    let hasOperands = event.operation.hasOperands
    let siteIndex = EventCodingState.siteIndex(pair)
    let type = event.operation == .object ? event.type : 0
    let writesOperands =
      hasOperands && (state.siteSize[siteIndex] != event.size || (event.operation == .object && state.siteType[siteIndex] != type))
    var (code, extra) = addressCode(event.address)
    if isPredicted {
      output.byte(UInt8(LT_TAG_PREDICTED) | (writesOperands ? UInt8(LT_TAG_OPERANDS) : 0) | code)
    } else {
      output.byte((writesOperands ? UInt8(LT_TAG_OPERANDS) : 0) | event.operation.rawValue)
      output.byte(code)
      output.zigzag(Int64(event.stack.rawValue) - Int64(state.previous >> 8))
      state.prediction[predictionIndex] = pair
    }
    state.previous = pair
    switch code {
    case 5: output.byte(UInt8(truncatingIfNeeded: extra))
    case 6, 7: output.zigzag(Int64(bitPattern: extra))
    default: extra = 0
    }
    state.remember(event.address)
    if state.isExact {
      let steps = event.time > state.time ? (event.time - state.time) >> UInt64(LT_TIME_SHIFT) : 0
      output.varint(steps)
      state.time += steps << UInt64(LT_TIME_SHIFT)
    }
    if writesOperands {
      output.varint(event.size)
      if event.operation == .object { output.varint(UInt64(type)) }
      state.siteSize[siteIndex] = event.size
      state.siteType[siteIndex] = type
    }
    eventCount += 1
  }

  /// The shortest code for an address, and what follows it.
  private func addressCode(_ address: UInt64) -> (UInt8, UInt64) {
    if address == state.recent0 { return (0, 0) }
    if address == state.recent1 { return (1, 0) }
    if address == state.recent2 { return (2, 0) }
    if address == state.recent3 { return (3, 0) }
    if address == state.successor[Int(lt_successor_index(state.recent0))] { return (4, 0) }
    let delta = Int64(bitPattern: address &- state.recent0)
    let blocks = delta >> 4
    if delta & 15 == 0 {
      if blocks >= -28, blocks < 0 { return (UInt8(36 + blocks), 0) }
      if blocks > 0, blocks <= 28 { return (UInt8(35 + blocks), 0) }
    }
    let hash = lt_address_index(address)
    if state.table[Int(hash)] == address { return (5, UInt64(hash)) }
    if delta & 15 == 0 { return (6, UInt64(bitPattern: blocks)) }
    return (7, UInt64(bitPattern: delta))
  }
}
