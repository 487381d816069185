// What the adaptive coding of events remembers, alike for reading and writing.

import CTraceFormat

/// The tables of docs/trace-format.md, "Events". Owns its memory; the owner calls `deallocate`. For one thread at a time.
struct EventCodingState: @unchecked Sendable {
  /// `stack << 8 | operation`
  let prediction: UnsafeMutablePointer<UInt64>
  let siteSize: UnsafeMutablePointer<UInt64>
  let siteType: UnsafeMutablePointer<UInt32>
  let successor: UnsafeMutablePointer<UInt64>
  let table: UnsafeMutablePointer<UInt64>
  var recent0: UInt64 = 0
  var recent1: UInt64 = 0
  var recent2: UInt64 = 0
  var recent3: UInt64 = 0
  /// `stack << 8 | operation`
  var previous: UInt64 = 0
  var time: UInt64 = 0
  var isExact = false

  /// Bytes that one state takes.
  static let footprint = 8 * Int(LT_PREDICTION_COUNT) + 12 * Int(LT_SITE_COUNT) + 8 * Int(LT_SUCCESSOR_COUNT) + 8 * Int(LT_ADDRESS_TABLE_COUNT)

  init() {
    prediction = .allocate(capacity: Int(LT_PREDICTION_COUNT))
    siteSize = .allocate(capacity: Int(LT_SITE_COUNT))
    siteType = .allocate(capacity: Int(LT_SITE_COUNT))
    successor = .allocate(capacity: Int(LT_SUCCESSOR_COUNT))
    table = .allocate(capacity: Int(LT_ADDRESS_TABLE_COUNT))
    begin(firstTime: 0)
  }

  /// Without tables: not to be used, only to be replaced.
  private init(placeholder address: UInt) {
    prediction = UnsafeMutablePointer(bitPattern: address)!
    siteSize = UnsafeMutablePointer(bitPattern: address)!
    siteType = UnsafeMutablePointer(bitPattern: address)!
    successor = UnsafeMutablePointer(bitPattern: address)!
    table = UnsafeMutablePointer(bitPattern: address)!
  }

  static let unopened = EventCodingState(placeholder: 16)

  func deallocate() {
    if prediction == Self.unopened.prediction { return }
    prediction.deallocate()
    siteSize.deallocate()
    siteType.deallocate()
    successor.deallocate()
    table.deallocate()
  }

  /// As at the start of every chunk.
  mutating func begin(firstTime: UInt64) {
    prediction.initialize(repeating: 0, count: Int(LT_PREDICTION_COUNT))
    siteSize.initialize(repeating: 0, count: Int(LT_SITE_COUNT))
    siteType.initialize(repeating: 0, count: Int(LT_SITE_COUNT))
    successor.initialize(repeating: 0, count: Int(LT_SUCCESSOR_COUNT))
    table.initialize(repeating: 0, count: Int(LT_ADDRESS_TABLE_COUNT))
    recent0 = 0
    recent1 = 0
    recent2 = 0
    recent3 = 0
    previous = 0
    time = firstTime
    isExact = false
  }

  @inline(__always)
  static func siteIndex(_ pair: UInt64) -> Int {
    Int(lt_site_index(UInt32(truncatingIfNeeded: pair & 0xFF), UInt32(truncatingIfNeeded: pair >> 8)))
  }

  /// Step 4's end: an address that differs from the latest one becomes the latest.
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
