// The state of the adaptive coding of events, for both reading and writing.

import CTraceFormat

/// The state that docs/engineering/trace-format.md, "Events", describes. Owns the memory of its tables; the owner must
/// call `deallocate`. For one thread at a time.
struct EventCodingState: @unchecked Sendable {
  /// Two words for each context. From the low end up: the operation (8 bits), the pushes (8), the pops (16) and up to
  /// six key indices (16 each).
  let prediction: UnsafeMutablePointer<UInt64>
  let keys: UnsafeMutablePointer<UInt64>
  let siteSize: UnsafeMutablePointer<UInt64>
  let siteType: UnsafeMutablePointer<UInt32>
  let successor: UnsafeMutablePointer<UInt64>
  let table: UnsafeMutablePointer<UInt64>
  var recent0: UInt64 = 0
  var recent1: UInt64 = 0
  var recent2: UInt64 = 0
  var recent3: UInt64 = 0
  var stack: FrameStack
  var literal: UInt64 = 0
  var context = 0
  var time: UInt64 = 0
  var isExact = false
  var task: UInt64 = 0
  /// True if the next stack is unrelated to the previous one: a chunk begins, or another task runs.
  var isStackNew = true

  /// The bytes that one state takes.
  static let footprint =
    28 * Int(LT_CONTEXT_COUNT) + 8 * Int(LT_KEY_COUNT + LT_SUCCESSOR_COUNT + LT_ADDRESS_TABLE_COUNT) + 12 * 256

  init() {
    prediction = .allocate(capacity: 2 * Int(LT_CONTEXT_COUNT))
    keys = .allocate(capacity: Int(LT_KEY_COUNT))
    stack = FrameStack()
    siteSize = .allocate(capacity: Int(LT_CONTEXT_COUNT))
    siteType = .allocate(capacity: Int(LT_CONTEXT_COUNT))
    successor = .allocate(capacity: Int(LT_SUCCESSOR_COUNT))
    table = .allocate(capacity: Int(LT_ADDRESS_TABLE_COUNT))
    begin(firstTime: 0)
  }

  /// Makes a placeholder without tables, which must be replaced before it is used.
  private init(placeholder address: UInt) {
    prediction = UnsafeMutablePointer(bitPattern: address)!
    keys = UnsafeMutablePointer(bitPattern: address)!
    stack = .unopened
    siteSize = UnsafeMutablePointer(bitPattern: address)!
    siteType = UnsafeMutablePointer(bitPattern: address)!
    successor = UnsafeMutablePointer(bitPattern: address)!
    table = UnsafeMutablePointer(bitPattern: address)!
  }

  static let unopened = EventCodingState(placeholder: 16)

  func deallocate(_ tree: StackTree) {
    if prediction == Self.unopened.prediction { return }
    prediction.deallocate()
    keys.deallocate()
    stack.deallocate(tree)
    siteSize.deallocate()
    siteType.deallocate()
    successor.deallocate()
    table.deallocate()
  }

  /// Resets the state, as at the start of every chunk.
  mutating func begin(firstTime: UInt64) {
    prediction.initialize(repeating: 0, count: 2 * Int(LT_CONTEXT_COUNT))
    keys.initialize(repeating: 0, count: Int(LT_KEY_COUNT))
    stack.removeAll()
    literal = 0
    context = 0
    siteSize.initialize(repeating: 0, count: Int(LT_CONTEXT_COUNT))
    siteType.initialize(repeating: 0, count: Int(LT_CONTEXT_COUNT))
    successor.initialize(repeating: 0, count: Int(LT_SUCCESSOR_COUNT))
    table.initialize(repeating: 0, count: Int(LT_ADDRESS_TABLE_COUNT))
    recent0 = 0
    recent1 = 0
    recent2 = 0
    recent3 = 0
    time = firstTime
    isExact = false
    task = 0
    isStackNew = true
  }

  /// Returns the operations that have no stack in this trace, as bits: bit n for operation n.
  static func operationsWithoutStack(_ referenceCounting: TraceHeader.ReferenceCounting) -> UInt64 {
    referenceCounting == .countsOnly ? Operation.countingMask : 0
  }

  /// Step 3 of a record in docs/trace-format.md: the context of the event.
  @inline(__always)
  func nextContext(_ operation: UInt64, hasStack: Bool) -> Int {
    Int(
      lt_context_index(
        UInt32(truncatingIfNeeded: operation), hasStack ? stack.innermost : 0, hasStack ? stack.nextInnermost : 0))
  }

  /// The end of step 4: an address that differs from the latest address becomes the latest.
  @inline(__always)
  mutating func remember(_ address: UInt64) {
    let last = recent0
    if address == last { return }
    successor[Int(lt_successor_index(last))] = address
    table[Int(lt_address_index(address))] = address
    recent0 = address
    let second = recent1
    recent1 = last
    if second == address { return }
    let third = recent2
    recent2 = second
    if third == address { return }
    recent3 = third
  }
}
