// Ways to hold an object by its address, a pointer or a number, with a reference that the program counts by hand.

import Glibc

/// A place for addresses of objects that were retained by hand.
protocol AddressShape: Shape {
  mutating func store(_ address: UInt)
  func forEach(_ body: (UInt) -> Void)
  /// Forgets the addresses.
  mutating func erase()
  static var holdsMany: Bool { get }
}

extension AddressShape {
  static var holdsMany: Bool { false }
  mutating func put(_ node: Node) {
    if !Self.holdsMany { clear() }
    store(UInt(bitPattern: Unmanaged.passRetained(node).toOpaque()))
  }
  mutating func clear() {
    forEach { Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: $0)!).release() }
    erase()
  }
  mutating func lose() { erase() }
  func visit() {
    forEach { Walk.use(Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: $0)!).takeUnretainedValue()) }
  }
}

let lowMark: UInt = 5
let highMark: UInt = 0x8001 << 48
let addressBits: UInt = 0xFFFF_FFFF_FFF8

/// `Node.turn`, by the object's address.
private func turn(_ address: UInt) -> UInt32 {
  Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue().turn
}

// MARK: Pointers

struct Counted: AddressShape {
  var node: Unmanaged<Node>?
  mutating func store(_ address: UInt) { node = .fromOpaque(UnsafeRawPointer(bitPattern: address)!) }
  func forEach(_ body: (UInt) -> Void) { if let node { body(UInt(bitPattern: node.toOpaque())) } }
  mutating func erase() { node = nil }
}

struct Pointer: AddressShape {
  var pointer: UnsafeRawPointer?
  var opaque: OpaquePointer?
  mutating func store(_ address: UInt) {
    if turn(address) % 2 == 0 {
      pointer = UnsafeRawPointer(bitPattern: address)
    } else {
      opaque = OpaquePointer(bitPattern: address)
    }
  }
  func forEach(_ body: (UInt) -> Void) {
    if let pointer { body(UInt(bitPattern: pointer)) }
    if let opaque { body(UInt(bitPattern: opaque)) }
  }
  mutating func erase() { (pointer, opaque) = (nil, nil) }
}

/// Pointers with marks in their lowest and highest bits.
struct MarkedPointer: AddressShape {
  var low: UnsafeRawPointer?
  var high: UnsafeRawPointer?
  mutating func store(_ address: UInt) {
    if turn(address) % 2 == 0 {
      low = UnsafeRawPointer(bitPattern: address | lowMark)
    } else {
      high = UnsafeRawPointer(bitPattern: address | highMark)
    }
  }
  func forEach(_ body: (UInt) -> Void) {
    if let low { body(UInt(bitPattern: low) & addressBits) }
    if let high { body(UInt(bitPattern: high) & addressBits) }
  }
  mutating func erase() { (low, high) = (nil, nil) }
}

struct ByIdentifier: AddressShape {
  static var holdsMany: Bool { true }
  var numbers: [ObjectIdentifier: Int] = [:]
  mutating func store(_ address: UInt) { numbers[unsafeBitCast(address, to: ObjectIdentifier.self), default: 0] += 1 }
  func forEach(_ body: (UInt) -> Void) {
    for (key, count) in numbers { for _ in 0..<count { body(UInt(bitPattern: key)) } }
  }
  mutating func erase() { numbers = [:] }
}

struct Identifier: AddressShape {
  var identifier: ObjectIdentifier?
  mutating func store(_ address: UInt) { identifier = unsafeBitCast(address, to: ObjectIdentifier.self) }
  func forEach(_ body: (UInt) -> Void) { if let identifier { body(UInt(bitPattern: identifier)) } }
  mutating func erase() { identifier = nil }
}

/// A reference in memory of its own.
struct Allocated: Shape {
  var memory: UnsafeMutablePointer<Node>?
  mutating func put(_ node: Node) {
    clear()
    memory = .allocate(capacity: 1)
    memory!.initialize(to: node)
  }
  mutating func clear() {
    memory?.deinitialize(count: 1)
    memory?.deallocate()
    memory = nil
  }
  mutating func lose() { memory = nil }
  func visit() { Walk.use(memory?.pointee) }
}

struct AllocatedMany: Shape {
  var memory = UnsafeMutableBufferPointer<Node?>(start: nil, count: 0)
  mutating func put(_ node: Node) {
    if memory.baseAddress == nil {
      memory = .allocate(capacity: 5)
      memory.initialize(repeating: nil)
    }
    memory[Int(node.turn % 5)] = node
  }
  mutating func clear() {
    memory.deinitialize()
    memory.deallocate()
    memory = .init(start: nil, count: 0)
  }
  mutating func lose() { memory = .init(start: nil, count: 0) }
  func visit() { memory.forEach { Walk.use($0) } }
}

// MARK: Numbers

struct Number: AddressShape {
  var number: UInt = 0
  mutating func store(_ address: UInt) { number = address }
  func forEach(_ body: (UInt) -> Void) { if number != 0 { body(number) } }
  mutating func erase() { number = 0 }
}

struct MarkedNumber: AddressShape {
  var number: UInt64 = 0
  mutating func store(_ address: UInt) {
    number = UInt64(turn(address) % 2 == 0 ? address | lowMark : address | highMark)
  }
  func forEach(_ body: (UInt) -> Void) { if number != 0 { body(UInt(number) & addressBits) } }
  mutating func erase() { number = 0 }
}

struct OptionalNumber: AddressShape {
  var number: Int?
  var flag = true
  mutating func store(_ address: UInt) { number = Int(address) }
  func forEach(_ body: (UInt) -> Void) { if let number { body(UInt(number)) } }
  mutating func erase() { number = nil }
}

struct Fraction: AddressShape {
  var number: Double = 0
  mutating func store(_ address: UInt) { number = Double(bitPattern: UInt64(address)) }
  func forEach(_ body: (UInt) -> Void) { if number.bitPattern != 0 { body(UInt(number.bitPattern)) } }
  mutating func erase() { number = 0 }
}

/// An address in two halves, as files of 32-bit fields have it.
struct Halves: AddressShape {
  var mark: UInt32 = 1
  var low: UInt32 = 0
  var high: UInt32 = 0
  mutating func store(_ address: UInt) { (low, high) = (UInt32(truncatingIfNeeded: address), UInt32(address >> 32)) }
  func forEach(_ body: (UInt) -> Void) { if low | high != 0 { body(UInt(high) << 32 | UInt(low)) } }
  mutating func erase() { (low, high) = (0, 0) }
}

/// An address among bytes, at any place.
struct FixedBytes: AddressShape {
  var bytes = Packet()
  struct Packet {
    var bytes:
      (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
        UInt8, UInt8
      ) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }
  mutating func store(_ address: UInt) {
    withUnsafeMutableBytes(of: &bytes) {
      $0[0] = UInt8(turn(address) % 8) + 1
      $0.storeBytes(of: address, toByteOffset: Int($0[0]), as: UInt.self)
    }
  }
  func forEach(_ body: (UInt) -> Void) {
    withUnsafeBytes(of: bytes) { if $0[0] != 0 { body($0.loadUnaligned(fromByteOffset: Int($0[0]), as: UInt.self)) } }
  }
  mutating func erase() { bytes = Packet() }
}

struct Bytes: AddressShape {
  static var holdsMany: Bool { true }
  var bytes: [UInt8] = []
  mutating func store(_ address: UInt) {
    bytes.append(9)
    withUnsafeBytes(of: address) { bytes.append(contentsOf: $0) }
  }
  func forEach(_ body: (UInt) -> Void) {
    bytes.withUnsafeBytes {
      for at in stride(from: 1, to: bytes.count, by: 9) { body($0.loadUnaligned(fromByteOffset: at, as: UInt.self)) }
    }
  }
  mutating func erase() { bytes = [] }
}

struct Quarters: AddressShape {
  static var holdsMany: Bool { true }
  var parts: [UInt16] = []
  mutating func store(_ address: UInt) {
    for shift in stride(from: 0, to: 64, by: 16) { parts.append(UInt16(truncatingIfNeeded: address >> UInt(shift))) }
  }
  func forEach(_ body: (UInt) -> Void) {
    parts.withUnsafeBytes {
      for at in stride(from: 0, to: $0.count, by: 8) { body($0.loadUnaligned(fromByteOffset: at, as: UInt.self)) }
    }
  }
  mutating func erase() { parts = [] }
}

struct Numbers: AddressShape {
  static var holdsMany: Bool { true }
  var numbers: [UInt] = []
  mutating func store(_ address: UInt) { numbers.append(address | UInt(numbers.count & 7)) }
  func forEach(_ body: (UInt) -> Void) { numbers.forEach { body($0 & addressBits) } }
  mutating func erase() { numbers = [] }
}

struct NumberSlice: AddressShape {
  var numbers: ArraySlice<Int64> = []
  mutating func store(_ address: UInt) { numbers = [1, Int64(address), 3][1..<2] }
  func forEach(_ body: (UInt) -> Void) { numbers.forEach { body(UInt($0)) } }
  mutating func erase() { numbers = [] }
}

struct NumberTable: AddressShape {
  static var holdsMany: Bool { true }
  var numbers: [Int: UInt] = [:]
  mutating func store(_ address: UInt) { numbers[numbers.count] = address | highMark }
  func forEach(_ body: (UInt) -> Void) { numbers.values.forEach { body($0 & addressBits) } }
  mutating func erase() { numbers = [:] }
}

struct NumberKeys: AddressShape {
  static var holdsMany: Bool { true }
  var names: [UInt: String] = [:]
  var set: Set<UInt> = []
  mutating func store(_ address: UInt) {
    if names[address] == nil {
      names[address] = "a name"
    } else if !set.insert(address).inserted {
      Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).release()
    }
  }
  func forEach(_ body: (UInt) -> Void) {
    names.keys.forEach(body)
    set.forEach(body)
  }
  mutating func erase() { (names, set) = ([:], []) }
}

struct NumberRows: AddressShape {
  static var holdsMany: Bool { true }
  var rows: [(UInt8, UInt, Bool)] = []
  mutating func store(_ address: UInt) { rows.append((1, address, true)) }
  func forEach(_ body: (UInt) -> Void) { rows.forEach { body($0.1) } }
  mutating func erase() { rows = [] }
}

/// Numbers beside references, so that the type has both.
struct NumberBesideNode: AddressShape {
  static var holdsMany: Bool { true }
  var rows: [(text: String, number: UInt, node: Node?)] = []
  mutating func store(_ address: UInt) { rows.append(("a text of more than fifteen bytes", address, nil)) }
  func forEach(_ body: (UInt) -> Void) { rows.forEach { body($0.number) } }
  mutating func erase() { rows = [] }
}

struct NumberCase: AddressShape {
  enum Value { case nothing, number(UInt), node(Node), pair(Int, UInt) }
  var value = Value.nothing
  mutating func store(_ address: UInt) {
    value = turn(address) % 2 == 0 ? .number(address) : .pair(1, address | lowMark)
  }
  func forEach(_ body: (UInt) -> Void) {
    switch value {
    case .number(let number): body(number)
    case .pair(_, let number): body(number & addressBits)
    case .nothing, .node: break
    }
  }
  mutating func erase() { value = .nothing }
}

struct NumberCases: AddressShape {
  static var holdsMany: Bool { true }
  var values: [Either<UInt, String>?] = []
  mutating func store(_ address: UInt) { values.append(.left(address)) }
  func forEach(_ body: (UInt) -> Void) { values.forEach { if case .left(let number)? = $0 { body(number) } } }
  mutating func erase() { values = [] }
}

struct NumberAny: AddressShape {
  static var holdsMany: Bool { true }
  var value: Any?
  var values: [Any] = []
  mutating func store(_ address: UInt) {
    if value == nil { value = address } else { values.append((UInt8(1), address | lowMark)) }
  }
  func forEach(_ body: (UInt) -> Void) {
    if let number = value as? UInt { body(number) }
    values.forEach { if let pair = $0 as? (UInt8, UInt) { body(pair.1 & addressBits) } }
  }
  mutating func erase() { (value, values) = (nil, []) }
}

struct NumberHashable: AddressShape {
  static var holdsMany: Bool { true }
  var values: [AnyHashable] = []
  mutating func store(_ address: UInt) { values.append(AnyHashable(address)) }
  func forEach(_ body: (UInt) -> Void) { values.forEach { if let number = $0.base as? UInt { body(number) } } }
  mutating func erase() { values = [] }
}

struct NumberCall: AddressShape {
  var call: (() -> UInt)?
  mutating func store(_ address: UInt) {
    let number = turn(address) % 2 == 0 ? address : address | lowMark
    call = { number }
  }
  func forEach(_ body: (UInt) -> Void) { if let call { body(call() & addressBits) } }
  mutating func erase() { call = nil }
}

struct NumberVariable: AddressShape {
  var read: (() -> UInt)?
  mutating func store(_ address: UInt) {
    var number: UInt = 0
    let write = { number = $0 }
    write(address)
    read = { number }
  }
  func forEach(_ body: (UInt) -> Void) { if let read { body(read()) } }
  mutating func erase() { read = nil }
}

struct NumberBuffer: AddressShape {
  var buffer: ManagedBuffer<Int, UInt>?
  mutating func store(_ address: UInt) {
    buffer = .create(minimumCapacity: 3) { _ in 1 }
    buffer!.withUnsafeMutablePointerToElements { $0.initialize(to: address) }
  }
  func forEach(_ body: (UInt) -> Void) {
    if let buffer { body(buffer.withUnsafeMutablePointerToElements { $0.pointee }) }
  }
  mutating func erase() { buffer = nil }
}

struct Vector: AddressShape {
  var vector = SIMD4<UInt64>()
  mutating func store(_ address: UInt) { vector[Int(turn(address) % 4)] = UInt64(address) }
  func forEach(_ body: (UInt) -> Void) { for index in 0..<4 where vector[index] != 0 { body(UInt(vector[index])) } }
  mutating func erase() { vector = SIMD4() }
}

indirect enum Numeral {
  case zero, one(UInt), next(Numeral, UInt)
}

struct NumberTree: AddressShape {
  static var holdsMany: Bool { true }
  var numeral = Numeral.zero
  mutating func store(_ address: UInt) {
    if case .zero = numeral { numeral = .one(address) } else { numeral = .next(numeral, address) }
  }
  func forEach(_ body: (UInt) -> Void) {
    var next = numeral
    while true {
      switch next {
      case .zero: return
      case .one(let number): return body(number)
      case .next(let rest, let number):
        body(number)
        next = rest
      }
    }
  }
  mutating func erase() { numeral = .zero }
}

struct AllocatedNumber: AddressShape {
  var memory: UnsafeMutablePointer<UInt>?
  mutating func store(_ address: UInt) {
    memory = .allocate(capacity: 2)
    memory!.initialize(repeating: address | highMark, count: 2)
  }
  func forEach(_ body: (UInt) -> Void) { if let memory { body(memory.pointee & addressBits) } }
  mutating func erase() {
    memory?.deallocate()
    memory = nil
  }
}
