// Records in memory of malloc that have an object, and ways to hold a record by its address.

import Glibc

/// A record as C has it, in memory of malloc: the number of the record, then a retained object, in one of several ways.
enum Record {
  private static let places = [16, 24, 16, 17, 18, 19, 20, 21, 22, 23]

  /// By bytes: 0 the record's number, 4 the way, from 16 on the object, at any place.
  static func make(_ node: Node) -> UnsafeMutableRawPointer {
    let id = Ledger.add(.record)
    let way = Int(Ledger.turn(id)) % places.count
    let record = calloc(1, 40 + Int(Ledger.turn(id) % 9) * 16)!
    Ledger.place(id, UInt(bitPattern: record))
    record.storeBytes(of: id, as: UInt32.self)
    record.storeBytes(of: UInt8(way), toByteOffset: 4, as: UInt8.self)
    let address = UInt(bitPattern: Unmanaged.passRetained(node).toOpaque())
    record.storeBytes(
      of: way == 1 ? address | lowMark : way == 2 ? address | highMark : address, toByteOffset: places[way],
      as: UInt.self)
    return record
  }

  private static func id(_ record: UnsafeMutableRawPointer) -> UInt32 { record.load(as: UInt32.self) }

  private static func node(_ record: UnsafeMutableRawPointer) -> Unmanaged<Node> {
    let place = places[Int(record.load(fromByteOffset: 4, as: UInt8.self))]
    let word = record.loadUnaligned(fromByteOffset: place, as: UInt.self)
    return .fromOpaque(UnsafeRawPointer(bitPattern: word & addressBits)!)
  }

  static func use(_ record: UnsafeMutableRawPointer) {
    Ledger.note(id(record), .used)
    Walk.use(node(record).takeUnretainedValue())
  }

  static func end(_ record: UnsafeMutableRawPointer) {
    node(record).release()
    Ledger.noteEnd(id(record))
    free(record)
  }
}

/// A place for addresses of records.
protocol RecordShape: AddressShape {}

extension RecordShape {
  mutating func put(_ node: Node) {
    if !Self.holdsMany { clear() }
    store(UInt(bitPattern: Record.make(node)))
  }
  mutating func clear() {
    forEach { Record.end(UnsafeMutableRawPointer(bitPattern: $0)!) }
    erase()
  }
  func visit() { forEach { Record.use(UnsafeMutableRawPointer(bitPattern: $0)!) } }
}

struct RecordPointer: RecordShape {
  var pointer: UnsafeMutableRawPointer?
  mutating func store(_ address: UInt) { pointer = UnsafeMutableRawPointer(bitPattern: address) }
  func forEach(_ body: (UInt) -> Void) { if let pointer { body(UInt(bitPattern: pointer)) } }
  mutating func erase() { pointer = nil }
}

/// A pointer behind a header, as allocators with headers of their own give it out.
struct RecordInterior: RecordShape {
  var pointer: UnsafeMutableRawPointer?
  mutating func store(_ address: UInt) { pointer = UnsafeMutableRawPointer(bitPattern: address + 16) }
  func forEach(_ body: (UInt) -> Void) { if let pointer { body(UInt(bitPattern: pointer) - 16) } }
  mutating func erase() { pointer = nil }
}

struct RecordPointers: RecordShape {
  static var holdsMany: Bool { true }
  var pointers: [String: UnsafeMutableRawPointer] = [:]
  mutating func store(_ address: UInt) { pointers["\(pointers.count)"] = UnsafeMutableRawPointer(bitPattern: address) }
  func forEach(_ body: (UInt) -> Void) { pointers.values.forEach { body(UInt(bitPattern: $0)) } }
  mutating func erase() { pointers = [:] }
}

struct RecordNumber: RecordShape {
  var number: UInt = 0
  mutating func store(_ address: UInt) { number = address }
  func forEach(_ body: (UInt) -> Void) { if number != 0 { body(number) } }
  mutating func erase() { number = 0 }
}

struct RecordNumbers: RecordShape {
  static var holdsMany: Bool { true }
  var numbers: [UInt64] = []
  mutating func store(_ address: UInt) { numbers.append(UInt64(address | lowMark)) }
  func forEach(_ body: (UInt) -> Void) { numbers.forEach { body(UInt($0) & addressBits) } }
  mutating func erase() { numbers = [] }
}

struct RecordInteriorNumber: RecordShape {
  var number: UInt = 0
  mutating func store(_ address: UInt) { number = address + 16 }
  func forEach(_ body: (UInt) -> Void) { if number != 0 { body(number - 16) } }
  mutating func erase() { number = 0 }
}

struct RecordChoice: RecordShape {
  enum Choice { case idle, open(UnsafeMutableRawPointer, Int32), closed(String) }
  var choice = Choice.idle
  mutating func store(_ address: UInt) { choice = .open(UnsafeMutableRawPointer(bitPattern: address)!, 3) }
  func forEach(_ body: (UInt) -> Void) { if case .open(let pointer, _) = choice { body(UInt(bitPattern: pointer)) } }
  mutating func erase() { choice = .closed("a reason of more than fifteen bytes") }
}
