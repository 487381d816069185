// A class's metadata record: the superclass, the instance size, and the offsets of stored properties.

import TraceReading

/// The metadata of a class in the traced process, and the needed parts of the class's descriptor. Layouts:
/// swift/ABI/Metadata.h.
struct ClassMetadata {
  let address: RuntimeAddress
  /// 0 for a root class.
  let superclass: RuntimeAddress
  let instanceSize: Int
  /// Address of the class's descriptor, which lies in an image.
  let descriptor: RuntimeAddress
  /// The number of bytes of the record from `address` on.
  let recordSize: Int

  /// The most bytes of one instance.
  private static let instanceSizeLimit = 1 << 24
  private static let recordSizeLimit = 1 << 20
  private static let fieldLimit = 1 << 14

  /// Reads the record at an address. `nil` if it cannot be read, or cannot be the record of a class.
  init?(_ address: RuntimeAddress, in memory: some TargetMemory) {
    func word(_ offset: UInt64) -> UInt64? { memory.word(at: RuntimeAddress(address.rawValue &+ offset)) }
    guard let superclass = word(8), let sizes = word(24), let extent = word(32), let descriptor = word(40) else {
      return nil
    }
    self.address = address
    self.superclass = RuntimeAddress(superclass)
    instanceSize = Int(sizes & 0xFFFF_FFFF)
    let (addressPoint, size) = (Int(extent >> 32), Int(extent & 0xFFFF_FFFF))
    recordSize = size - addressPoint
    self.descriptor = RuntimeAddress(descriptor)
    guard (16...Self.instanceSizeLimit).contains(instanceSize), (48...Self.recordSizeLimit).contains(recordSize) else {
      return nil
    }
  }

  /// Returns the offsets of the class's own stored properties, in order of declaration; `nil` if they are not
  /// plausible.
  ///
  /// A property of no size has no offset (`nil`). The compiler writes 0 for it, which is the offset of the object's
  /// header.
  ///
  /// - Parameter parent: the superclass's metadata, if there is one.
  func fieldOffsets(parent: ClassMetadata?, in memory: some TargetMemory) -> [Int?]? {
    func half(_ offset: UInt64) -> UInt32? {
      memory.value(at: RuntimeAddress(descriptor.rawValue &+ offset), as: UInt32.self)
    }
    guard descriptor.rawValue != 0, let flags = half(0), let count = half(36), let vector = half(40) else { return nil }
    // The low bits must be the kind of a class descriptor.
    guard flags & 31 == 16, count <= Self.fieldLimit else { return nil }
    if count == 0 { return [] }
    var start = Int(vector) * 8
    // The superclass may grow without a new compilation of this class, so the vector begins at the end of the
    // superclass's record.
    let hasResilientSuperclass = flags >> 29 & 1 != 0
    if hasResilientSuperclass { start += parent?.recordSize ?? 0 }
    guard start >= 48, start + Int(count) * 8 <= recordSize else { return nil }
    let floor = parent?.instanceSize ?? 16
    var offsets: [Int?] = []
    offsets.reserveCapacity(Int(count))
    for index in 0..<Int(count) {
      guard let offset = memory.word(at: RuntimeAddress(address.rawValue &+ UInt64(start + index * 8))),
        offset == 0 || offset >= floor,
        offset <= instanceSize
      else { return nil }
      offsets.append(offset == 0 ? nil : Int(offset))
    }
    return offsets
  }

  /// Returns the metadata of the type that is bound to a generic parameter. Only for classes whose generic parameters
  /// are all types.
  func genericArgument(_ index: Int, in memory: some TargetMemory) -> RuntimeAddress? {
    func half(_ offset: UInt64) -> UInt32? {
      memory.value(at: RuntimeAddress(descriptor.rawValue &+ offset), as: UInt32.self)
    }
    guard let flags = half(0), flags & 31 == 16 else { return nil }
    let offset: Int64
    if flags >> 29 & 1 != 0 {
      // The superclass may grow, so the offset is known only at run time. The runtime writes it to a separate record.
      guard let bounds = Self.relative(at: descriptor.rawValue &+ 24, in: memory),
        let own = memory.word(at: RuntimeAddress(bounds))
      else { return nil }
      offset = Int64(bitPattern: own)
    } else if flags >> 28 & 1 != 0 {
      guard let words = half(24) else { return nil }
      offset = -8 * Int64(words)
    } else {
      guard let words = half(28), let own = half(32) else { return nil }
      offset = 8 * (Int64(words) - Int64(own))
    }
    return memory.word(at: RuntimeAddress(address.rawValue &+ UInt64(bitPattern: offset &+ 8 &* Int64(index)))).map {
      RuntimeAddress($0)
    }
  }

  /// Returns the names of the class's own stored properties, in order of declaration; `nil` if the program has no
  /// reflection data for the class.
  func fieldNames(count: Int, in memory: some TargetMemory) -> [String]? {
    guard let fields = Self.relative(at: descriptor.rawValue &+ 16, in: memory),
      let recordSize = memory.value(at: RuntimeAddress(fields &+ 10), as: UInt16.self), recordSize >= 12,
      let recorded = memory.value(at: RuntimeAddress(fields &+ 12), as: UInt32.self), Int(recorded) == count
    else { return nil }
    var names: [String] = []
    names.reserveCapacity(count)
    for index in 0..<count {
      guard let name = Self.relative(at: fields &+ 16 &+ UInt64(index) * UInt64(recordSize) &+ 8, in: memory),
        let text = Self.string(at: name, in: memory)
      else { return nil }
      names.append(text)
    }
    return names
  }

  /// Returns the target of the relative pointer at an address; `nil` if the pointer is null.
  private static func relative(at address: UInt64, in memory: some TargetMemory) -> UInt64? {
    guard let offset = memory.value(at: RuntimeAddress(address), as: Int32.self), offset != 0 else { return nil }
    return address &+ UInt64(bitPattern: Int64(offset))
  }

  private static func string(at address: UInt64, in memory: some TargetMemory) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < 1024,
      let byte = memory.value(at: RuntimeAddress(address &+ UInt64(bytes.count)), as: UInt8.self)
    {
      if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }
}
