// Decoding the events of one chunk.

import CTraceFormat

/// Walks an events payload that stands in a `PayloadBuffer`. Allocates nothing after `init`. For one thread at a time; `deallocate` ends it.
struct EventDecoder {
  enum Step {
    case event
    case end
    /// The payload breaks off here; `offset` and `eventCount` say where.
    case damaged
  }

  private var state: EventCodingState
  private var start: UnsafePointer<UInt8>
  private var position: UnsafePointer<UInt8>
  private var end: UnsafePointer<UInt8>
  /// Events decoded from this payload.
  private(set) var eventCount: UInt64 = 0

  init() { self.init(state: EventCodingState()) }

  private init(state: EventCodingState) {
    self.state = state
    start = UnsafePointer(bitPattern: 8)!
    position = start
    end = start
  }

  /// Stands in for a decoder; owns nothing, decodes nothing.
  static var unopened: EventDecoder { EventDecoder(state: .unopened) }

  func deallocate() { state.deallocate() }

  /// Where the next record begins; after `.damaged`, where the damaged one does.
  var offset: Int { position - start }

  /// The time of the last event or time record.
  var time: UInt64 { state.time }

  /// Begins a payload, which the caller keeps alive and unchanged until the last `next`.
  mutating func begin(_ payload: PayloadBuffer, firstTime: UInt64) {
    start = UnsafePointer(payload.start)
    position = start
    end = start + payload.count
    eventCount = 0
    state.begin(firstTime: firstTime)
  }

  /// Reads a varint that begins before `end`; the padding keeps it from running away. Sets `bad` if it has more than 64 bits.
  @inline(__always)
  private func varint(_ p: inout UnsafePointer<UInt8>, _ bad: inout Bool) -> UInt64 {
    let first = UInt64(p.pointee)
    p += 1
    if first < 0x80 { return first }
    let second = UInt64(p.pointee)
    p += 1
    if second < 0x80 { return (first & 0x7F) | second << 7 }
    return longVarint((first & 0x7F) | (second & 0x7F) << 7, &p, &bad)
  }

  @inline(never)
  private func longVarint(_ low: UInt64, _ p: inout UnsafePointer<UInt8>, _ bad: inout Bool) -> UInt64 {
    var value = low
    var shift: UInt64 = 14
    while true {
      let byte = UInt64(p.pointee)
      p += 1
      value |= (byte & 0x7F) &<< shift
      if byte < 0x80 {
        if shift == 63 && byte > 1 { bad = true }
        return value
      }
      shift &+= 7
      if shift > 63 {
        bad = true
        return value
      }
    }
  }

  @inline(__always)
  private static func unzigzag(_ n: UInt64) -> UInt64 { (n >> 1) ^ (0 &- (n & 1)) }

  /// Decodes up to the next event and fills `event`, but for its `thread` and `chunk`. Amortised constant time.
  @inline(__always)
  mutating func next(_ event: inout TraceEvent) -> Step {
    while position < end {
      var p = position
      var bad = false
      let tag = UInt64(p.pointee)
      p += 1
      let pair: UInt64
      let code: UInt64
      if tag & UInt64(LT_TAG_PREDICTED) != 0 {
        pair = state.prediction[EventCodingState.siteIndex(state.previous)]
        code = tag & UInt64(LT_TAG_LOW_MASK)
        if pair & 0xFF == 0 { return .damaged }
      } else {
        let operation = tag & UInt64(LT_TAG_LOW_MASK)
        if operation >= UInt64(Operation.limit) {
          guard control(operation, &p) else { return .damaged }
          position = p
          continue
        }
        code = UInt64(p.pointee)
        p += 1
        let delta = Self.unzigzag(varint(&p, &bad))
        let stack = (state.previous >> 8) &+ delta
        if stack > UInt64(UInt32.max) || operation == 0 || code > 63 { return .damaged }
        pair = stack << 8 | operation
        state.prediction[EventCodingState.siteIndex(state.previous)] = pair
      }

      let address: UInt64
      if code >= UInt64(LT_ADDRESS_NEAR) {
        // 8 … 35 are −28 … −1 blocks of 16 bytes, 36 … 63 are 1 … 28.
        let blocks = code &- (code < 36 ? 36 : 35)
        address = state.recent0 &+ (blocks &<< 4)
      } else {
        switch code {
        case 0: address = state.recent0
        case 1: address = state.recent1
        case 2: address = state.recent2
        case 3: address = state.recent3
        case 4: address = state.successor[Int(lt_successor_index(state.recent0))]
        case 5:
          address = state.table[Int(p.pointee)]
          p += 1
        case 6: address = state.recent0 &+ (Self.unzigzag(varint(&p, &bad)) &<< 4)
        default: address = state.recent0 &+ Self.unzigzag(varint(&p, &bad))
        }
      }
      state.remember(address)
      if state.isExact {
        state.time = state.time &+ (varint(&p, &bad) &<< UInt64(LT_TIME_SHIFT))
      }

      let operation = pair & 0xFF
      if Operation.operandMask &>> operation & 1 != 0 {
        let index = EventCodingState.siteIndex(pair)
        if tag & UInt64(LT_TAG_OPERANDS) != 0 {
          let size = varint(&p, &bad)
          var type: UInt64 = 0
          if operation == 1 { type = varint(&p, &bad) }
          if type > UInt64(UInt32.max) { return .damaged }
          state.siteSize[index] = size
          state.siteType[index] = UInt32(truncatingIfNeeded: type)
          event.size = size
          event.type = UInt32(truncatingIfNeeded: type)
        } else {
          event.size = state.siteSize[index]
          event.type = operation == 1 ? state.siteType[index] : 0
        }
      } else {
        if tag & UInt64(LT_TAG_OPERANDS) != 0 { return .damaged }
        event.size = 0
        event.type = 0
      }
      if bad || p > end { return .damaged }
      event.payloadOffset = UInt32(truncatingIfNeeded: position - start)
      event.time = state.time
      event.address = address
      event.stack = StackID(UInt32(truncatingIfNeeded: pair >> 8))
      event.operation = Operation(rawValue: UInt8(truncatingIfNeeded: operation))
      state.previous = pair
      position = p
      eventCount &+= 1
      return .event
    }
    return .end
  }

  /// Takes in a control record whose tag has been read; false if it is damaged.
  @inline(never)
  private mutating func control(_ kind: UInt64, _ p: inout UnsafePointer<UInt8>) -> Bool {
    guard p < end else { return false }
    var cursor = ByteCursor(p, count: end - p)
    guard let length = cursor.varint(), var payload = cursor.part(length) else { return false }
    switch Int(kind) {
    case Int(LT_CONTROL_TIME):
      guard let ticks = payload.varint() else { return false }
      state.time = state.time &+ (ticks &<< UInt64(LT_TIME_SHIFT))
    case Int(LT_CONTROL_EXACT_TIME):
      state.isExact = true
    default:
      break
    }
    p = cursor.position
    return true
  }
}
