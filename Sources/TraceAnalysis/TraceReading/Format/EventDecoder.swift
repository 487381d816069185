// Decoding the events of one chunk.

import CTraceFormat

/// Decodes an events payload in a `PayloadBuffer`. Allocates nothing after `init`. The owner must call `deallocate`.
/// For one thread at a time.
struct EventDecoder {
  enum Step {
    case event
    case end
    /// The payload cannot be decoded from `offset` on. `eventCount` events come before.
    case damaged
  }

  private var state: EventCodingState
  private var start: UnsafePointer<UInt8>
  private var position: UnsafePointer<UInt8>
  private var end: UnsafePointer<UInt8>
  /// The number of events that were decoded from this payload.
  private(set) var eventCount: UInt64 = 0
  private let kept: (stacks: StackTree, marks: MarkTable, filter: AddressFilter?)
  /// The objects in `kept`, for the loop, which does not retain them.
  private let stacks: Unmanaged<StackTree>
  private let marks: Unmanaged<MarkTable>
  /// The operations whose stacks are looked up, as bits: bit n for operation n.
  private let stackOperations: UInt64
  /// The subset of `stackOperations` whose stacks are looked up only for addresses of the filter.
  private let filteredOperations: UInt64
  private let filter: Unmanaged<AddressFilter>
  private let operationsWithoutStack: UInt64

  /// Makes a decoder that looks up the stacks of the selected operations in `stacks`, and adds new ones to it.
  init(
    stacks: StackTree, marks: MarkTable, referenceCounting: TraceHeader.ReferenceCounting,
    wanting selection: StackSelection
  ) {
    self.init(
      state: EventCodingState(), stacks, marks, selection, EventCodingState.operationsWithoutStack(referenceCounting))
  }

  private init(
    state: EventCodingState, _ stacks: StackTree, _ marks: MarkTable, _ selection: StackSelection,
    _ operationsWithoutStack: UInt64
  ) {
    self.state = state
    kept = (stacks, marks, selection.filter)
    self.stacks = Unmanaged.passUnretained(stacks)
    self.marks = Unmanaged.passUnretained(marks)
    stackOperations = selection.operations
    filteredOperations = selection.filteredOperations
    filter = Unmanaged.passUnretained(selection.filter ?? Self.noFilter)
    self.operationsWithoutStack = operationsWithoutStack
    start = UnsafePointer(bitPattern: 8)!
    position = start
    end = start
  }

  /// A placeholder for a decoder, without memory of its own. It must not be used.
  static var unopened: EventDecoder { EventDecoder(state: .unopened, noStacks, noMarks, .none, 0) }
  private static let noStacks = StackTree()
  private static let noMarks = MarkTable()
  private static let noFilter = AddressFilter([])

  func deallocate() { state.deallocate(kept.stacks) }

  /// The offset of the next record; after `.damaged`, the offset of the damaged record.
  var offset: Int { position - start }

  /// The time of the last event or time record.
  var time: UInt64 { state.time }

  /// Begins a payload. The caller must keep it alive and unchanged until the last call of `next`.
  mutating func begin(_ payload: PayloadBuffer, firstTime: UInt64) {
    start = UnsafePointer(payload.start)
    position = start
    end = start + payload.count
    eventCount = 0
    state.begin(firstTime: firstTime)
  }

  /// Reads a varint that begins before `end`. It may read past the end, but the padding of the payload is zeros, and so
  /// ends the varint. Sets `bad` if the varint has more than 64 bits.
  @inline(__always)
  private static func varint(_ p: inout UnsafePointer<UInt8>, _ bad: inout Bool) -> UInt64 {
    let first = UInt64(p.pointee)
    p += 1
    if first < 0x80 { return first }
    let second = UInt64(p.pointee)
    p += 1
    if second < 0x80 { return (first & 0x7F) | second << 7 }
    let (value, end) = longVarint((first & 0x7F) | (second & 0x7F) << 7, p)
    guard let end else {
      bad = true
      return value
    }
    p = end
    return value
  }

  /// Reads the rest of a varint of more than two bytes. Returns the position after it; nil if it has more than 64 bits.
  /// Takes the position by value: the loop over the events then keeps it in a register.
  @inline(never)
  private static func longVarint(_ low: UInt64, _ start: UnsafePointer<UInt8>) -> (UInt64, UnsafePointer<UInt8>?) {
    var value = low
    var shift: UInt64 = 14
    var p = start
    while true {
      let byte = UInt64(p.pointee)
      p += 1
      value |= (byte & 0x7F) &<< shift
      if byte < 0x80 { return (value, shift == 63 && byte > 1 ? nil : p) }
      shift &+= 7
      if shift > 63 { return (value, nil) }
    }
  }

  @inline(__always)
  private static func unzigzag(_ n: UInt64) -> UInt64 { (n >> 1) ^ (0 &- (n & 1)) }

  /// Decodes the records up to the next event, and fills `event` except for its `thread` and `chunk`. Amortised
  /// constant time.
  @inline(__always)
  mutating func next(_ event: inout TraceEvent) -> Step {
    while position < end {
      var p = position
      let tag = UInt64(p.pointee)
      p += 1
      let isPredicted = tag & UInt64(LT_TAG_PREDICTED) != 0
      if !isPredicted, tag & UInt64(LT_TAG_LOW_MASK) >= UInt64(Operation.limit) {
        switch takeControl(tag, p, &event) {
        case .passedOver: continue
        case .mark: return .event
        case .damaged: return .damaged
        }
      }
      guard let head = isPredicted ? takePredictedHead(tag) : takeExplicitHead(tag, &p) else { return .damaged }
      state.context = state.nextContext(head.operation, hasStack: head.hasStack)
      var bad = false
      event.address = takeAddress(head.code, &p, &bad)
      takeTime(&p, &bad)
      if !takeOperands(head.operation, tag, &p, &bad, &event) || bad || p > end { return .damaged }
      setPlace(of: &event)
      event.operation = Operation(rawValue: UInt8(truncatingIfNeeded: head.operation))
      event.stack = takeStack(head, event.address)
      position = p
      eventCount &+= 1
      return .event
    }
    return .end
  }

  /// The beginning of an event's record.
  private struct Head {
    var operation: UInt64
    /// The address code (LT_ADDRESS_…).
    var code: UInt64
    var hasStack: Bool
  }

  /// Repeats the operation and the stack change that this context predicts. Nil if the context has no prediction, or if
  /// the stack change is impossible.
  @inline(__always)
  private mutating func takePredictedHead(_ tag: UInt64) -> Head? {
    let first = state.prediction[2 &* state.context]
    let operation = first & 0xFF
    if operation == 0 { return nil }
    let hasStack = operationsWithoutStack &>> operation & 1 == 0
    if hasStack {
      if !state.stack.pop(Int(truncatingIfNeeded: first >> 16 & 0xFFFF)) { return nil }
      let pushes = Int(truncatingIfNeeded: first >> 8 & 0xFF)
      if pushes > 0, !pushPredicted(pushes, first) { return nil }
    }
    return Head(operation: operation, code: tag & UInt64(LT_TAG_LOW_MASK), hasStack: hasStack)
  }

  /// Reads the address code and the stack change after the tag. Stores the operation and the stack change as this
  /// context's prediction. Nil if the record is damaged.
  @inline(__always)
  private mutating func takeExplicitHead(_ tag: UInt64, _ p: inout UnsafePointer<UInt8>) -> Head? {
    let operation = tag & UInt64(LT_TAG_LOW_MASK)
    let code = UInt64(p.pointee)
    p += 1
    if operation == 0 || code > 63 { return nil }
    let hasStack = operationsWithoutStack &>> operation & 1 == 0
    if hasStack {
      if !takeSmallChange(&p, operation) {
        guard let end = changeStack(p, predicting: operation) else { return nil }
        p = end
      }
    } else {
      state.prediction[2 &* state.context] = operation
    }
    return Head(operation: operation, code: code, hasStack: hasStack)
  }

  @inline(__always)
  private mutating func takeAddress(_ code: UInt64, _ p: inout UnsafePointer<UInt8>, _ bad: inout Bool) -> UInt64 {
    let address: UInt64
    if code >= UInt64(LT_ADDRESS_NEAR) {
      // Codes 8 to 35 are distances of −28 to −1 blocks of 16 bytes; codes 36 to 63 are 1 to 28 blocks.
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
      case 6: address = state.recent0 &+ (Self.unzigzag(Self.varint(&p, &bad)) &<< 4)
      default: address = state.recent0 &+ Self.unzigzag(Self.varint(&p, &bad))
      }
    }
    state.remember(address)
    return address
  }

  @inline(__always)
  private mutating func takeTime(_ p: inout UnsafePointer<UInt8>, _ bad: inout Bool) {
    if state.isExact {
      state.time = state.time &+ (Self.varint(&p, &bad) &<< UInt64(LT_TIME_SHIFT))
    }
  }

  /// Sets the event's size and type from the operands in the record, or else from the last operands in this context.
  /// False if the operands are damaged.
  @inline(__always)
  private mutating func takeOperands(
    _ operation: UInt64, _ tag: UInt64, _ p: inout UnsafePointer<UInt8>, _ bad: inout Bool, _ event: inout TraceEvent
  ) -> Bool {
    let follow = tag & UInt64(LT_TAG_OPERANDS) != 0
    guard Operation.operandMask &>> operation & 1 != 0 else {
      event.size = 0
      event.type = 0
      return !follow
    }
    let index = state.context
    guard follow else {
      event.size = state.siteSize[index]
      event.type = operation == 1 ? state.siteType[index] : 0
      return true
    }
    let size = Self.varint(&p, &bad)
    var type: UInt64 = 0
    if operation == 1 {
      type = Self.varint(&p, &bad)
      if type > UInt64(UInt32.max) { return false }
      // Only object allocations set the context's type. Other operations in the same context leave it alone, in the
      // recorder, too.
      state.siteType[index] = UInt32(truncatingIfNeeded: type)
    }
    state.siteSize[index] = size
    event.size = size
    event.type = UInt32(truncatingIfNeeded: type)
    return true
  }

  /// Sets the offset of the event's record, and the state of its thread.
  @inline(__always)
  private mutating func setPlace(of event: inout TraceEvent) {
    event.payloadOffset = UInt32(truncatingIfNeeded: position - start)
    event.time = state.time
    event.task = state.task
    event.depth = UInt32(truncatingIfNeeded: state.stack.depth)
    event.keptDepth = UInt32(truncatingIfNeeded: state.stack.lowest)
    state.stack.lowest = state.stack.depth
    event.isStackNew = state.isStackNew
  }

  /// Looks up the event's stack if the event is selected. If at least one operation is selected, the first stack of a
  /// chunk or task is always looked up.
  @inline(__always)
  private mutating func takeStack(_ head: Head, _ address: UInt64) -> StackID {
    if !head.hasStack { return .empty }
    let wanting = state.isStackNew ? UInt64.max : 1 &<< head.operation
    return stackOperations & wanting == 0 ? .unknown : lookUpStack(wanting, address)
  }

  /// Most events have no use for their stack, so the look-up is apart from the loop.
  @inline(never)
  private mutating func lookUpStack(_ wanting: UInt64, _ address: UInt64) -> StackID {
    if filteredOperations & wanting == wanting, !filter._withUnsafeGuaranteedRef({ $0.mayContain(address) }) {
      return .unknown
    }
    state.isStackNew = false
    return stacks._withUnsafeGuaranteedRef { state.stack.resolve(in: $0, time: state.time) }
  }

  @inline(__always)
  private mutating func pushPredicted(_ pushes: Int, _ first: UInt64) -> Bool {
    if !state.stack.hasRoom(for: pushes), state.stack.room(for: pushes, in: stacks) == nil { return false }
    push(pushes, first, state.prediction[2 &* state.context &+ 1])
    return true
  }

  /// Reads a stack change of few frames that are all in the dictionary. Nearly all stack changes are like this. Stores
  /// the change as this context's prediction. Returns false for any other change, without any effect. May read past the
  /// end, into the padding.
  @inline(__always)
  private mutating func takeSmallChange(_ p: inout UnsafePointer<UInt8>, _ operation: UInt64) -> Bool {
    let pops = Int(p[0])
    let pushes = Int(p[1])
    if pops >= 0x80 || pushes > Int(LT_PREDICTED_PUSHES) || pops > state.stack.depth { return false }
    if !state.stack.hasRoom(for: pushes &- pops) { return false }
    var q = p + 2
    var first = operation | UInt64(truncatingIfNeeded: pushes) &<< 8 | UInt64(truncatingIfNeeded: pops) &<< 16
    var second: UInt64 = 0
    let keys = state.keys
    var number = 0
    while number < pushes {
      var token = UInt64(q.pointee)
      q += 1
      if token >= 0x80 {
        token = token & 0x7F | UInt64(q.pointee) &<< 7
        q += 1
      }
      let index = token &- UInt64(LT_TOKEN_DICTIONARY)
      // A key is stored only at its own index, so the index identifies the key. The exception is key 0, because all
      // unused entries are 0.
      if index >= UInt64(LT_KEY_COUNT) || keys[Int(truncatingIfNeeded: index)] == 0 { return false }
      if number < 2 {
        first |= index &<< UInt64(truncatingIfNeeded: 32 &+ 16 &* number)
      } else {
        second |= index &<< UInt64(truncatingIfNeeded: 16 &* (number &- 2))
      }
      number &+= 1
    }
    p = q
    _ = state.stack.pop(pops)
    push(pushes, first, second)
    state.prediction[2 &* state.context] = first
    state.prediction[2 &* state.context &+ 1] = second
    return true
  }

  /// Pushes keys of the dictionary onto the stack, which must have room for them.
  @inline(__always)
  private mutating func push(_ pushes: Int, _ first: UInt64, _ second: UInt64) {
    let keys = state.keys
    let room = state.stack.innerEnd
    if pushes > 0 { room[0] = keys[Int(truncatingIfNeeded: first &>> 32 & UInt64(LT_KEY_COUNT - 1))] }
    if pushes > 1 { room[1] = keys[Int(truncatingIfNeeded: first &>> 48 & UInt64(LT_KEY_COUNT - 1))] }
    if pushes > 2 {
      var indices = second
      for number in 2..<pushes {
        room[number] = keys[Int(truncatingIfNeeded: indices & UInt64(LT_KEY_COUNT - 1))]
        indices &>>= 16
      }
    }
    state.stack.take(pushes)
  }

  /// Reads and applies a stack change. If `operation` is given and the change is small enough, stores both as this
  /// context's prediction. Returns the position after the change; nil if it is damaged.
  @inline(never)
  private mutating func changeStack(_ start: UnsafePointer<UInt8>, predicting operation: UInt64?)
    -> UnsafePointer<UInt8>?
  {
    var bad = false
    var p = start
    let pops = Self.varint(&p, &bad)
    let pushes = Self.varint(&p, &bad)
    if bad || p > end || pops > UInt64(FrameStack.depthLimit) || pushes > UInt64(FrameStack.depthLimit) { return nil }
    if !state.stack.pop(Int(pops)) { return nil }
    let count = Int(pushes)
    guard let room = state.stack.room(for: count, in: stacks) else { return nil }
    let depth = state.stack.depth
    let dictionary = state.keys
    let end = end
    var q = p
    var done = 0
    while done < count {
      if q >= end { return nil }
      // Nearly all tokens are keys of the dictionary, in one byte or two.
      var token = Int(q.pointee)
      q += 1
      if token >= 0x80 {
        token = token & 0x7F | Int(q.pointee) &<< 7
        q += 1
        if token >= 0x80 &<< 7 {
          q -= 2
          token = Int(truncatingIfNeeded: min(Self.varint(&q, &bad), UInt64(Int32.max)))
          if bad { return nil }
        }
      }
      if UInt(bitPattern: token &- Int(LT_TOKEN_DICTIONARY)) < UInt(LT_KEY_COUNT) {
        room[done] = dictionary[token &- Int(LT_TOKEN_DICTIONARY)]
        done &+= 1
      } else if token == Int(LT_TOKEN_LITERAL) {
        let key = state.literal &+ Self.unzigzag(Self.varint(&q, &bad))
        if bad || q > end { return nil }
        state.literal = key
        dictionary[Int(lt_key_index(key))] = key
        room[done] = key
        done &+= 1
      } else {
        let distance = token - Int(LT_TOKEN_COPY) + 1
        let copies = Self.varint(&q, &bad)
        if bad || q > end || distance > depth + done || copies == 0 || copies > UInt64(count - done) { return nil }
        if !stacks._withUnsafeGuaranteedRef({ $0.takeCopies(copies) }) { return nil }
        for _ in 0..<Int(copies) {
          room[done] = room[done - distance]
          done &+= 1
        }
      }
    }
    if q > end { return nil }
    state.stack.take(count)
    if let operation, pushes <= UInt64(LT_PREDICTED_PUSHES), pops < 65536 {
      var first = operation | pushes << 8 | pops << 16
      var second: UInt64 = 0
      for i in 0..<count {
        let index = UInt64(lt_key_index(room[i]))
        if i < 2 { first |= index &<< UInt64(32 &+ 16 &* i) } else { second |= index &<< UInt64(16 &* (i &- 2)) }
      }
      state.prediction[2 &* state.context] = first
      state.prediction[2 &* state.context &+ 1] = second
    }
    return q
  }

  private enum Control {
    /// The record changed the state, or its kind is unknown.
    case passedOver
    /// The record is a mark, which `event` now describes.
    case mark
    case damaged
  }

  /// Decodes a control record, whose payload begins at `p`, and skips it.
  @inline(__always)
  private mutating func takeControl(_ tag: UInt64, _ p: UnsafePointer<UInt8>, _ event: inout TraceEvent) -> Control {
    let offset = position - start
    var p = p
    guard let mark = control(tag & UInt64(LT_TAG_LOW_MASK), &p) else { return .damaged }
    position = p
    if mark < 0 { return .passedOver }
    fill(&event, mark: mark, offset: offset)
    return .mark
  }

  /// Fills an event for a mark. The event's size is the mark's index in the table. The event count in a chunk's header
  /// does not include marks.
  @inline(never)
  private func fill(_ event: inout TraceEvent, mark: Int, offset: Int) {
    let said = marks._withUnsafeGuaranteedRef { $0.mark(mark) }
    event.operation = .mark
    event.address = said.address
    event.size = UInt64(mark)
    event.type = 0
    event.stack = .unknown
    event.task = state.task
    event.depth = UInt32(truncatingIfNeeded: state.stack.depth)
    event.keptDepth = UInt32(truncatingIfNeeded: state.stack.lowest)
    event.isStackNew = state.isStackNew
    event.time = max(state.time, said.time)
    event.payloadOffset = UInt32(truncatingIfNeeded: offset)
  }

  /// Decodes a control record after its tag. Returns the index of a mark, −1 for other records, nil if the record is
  /// damaged.
  @inline(never)
  private mutating func control(_ kind: UInt64, _ p: inout UnsafePointer<UInt8>) -> Int? {
    guard p < end else { return nil }
    var cursor = ByteCursor(p, count: end - p)
    guard let length = cursor.varint(), var payload = cursor.part(length) else { return nil }
    var mark = -1
    switch Int(kind) {
    case Int(LT_CONTROL_TIME):
      guard let ticks = payload.varint() else { return nil }
      state.time = state.time &+ (ticks &<< UInt64(LT_TIME_SHIFT))
    case Int(LT_CONTROL_EXACT_TIME):
      state.isExact = true
    case Int(LT_CONTROL_TASK):
      guard let task = payload.varint() else { return nil }
      state.task = task
      state.isStackNew = true
    case Int(LT_CONTROL_STACK):
      let end = payload.position + payload.remaining
      guard changeStack(payload.position, predicting: nil) == end else { return nil }
    case Int(LT_CONTROL_MARK):
      var isDamaged = false
      if let index = marks._withUnsafeGuaranteedRef({ $0.take(&payload, isDamaged: &isDamaged) }) { mark = index }
      if isDamaged { return nil }
    default:
      break
    }
    p = cursor.position
    return mark
  }
}
