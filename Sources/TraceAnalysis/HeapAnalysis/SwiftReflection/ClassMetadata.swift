// A class's metadata record: the superclass, the instance size, and the offsets of stored properties.

import CHeapScan
import TraceReading

/// The metadata of a class in the traced process, and the parts of the class's descriptor that the analysis needs.
struct ClassMetadata {
  let address: RuntimeAddress
  /// 0 for a root class.
  let superclass: RuntimeAddress
  let instanceSize: Int
  /// Address of the class's descriptor, which lies in a loaded image.
  let descriptor: RuntimeAddress
  /// The size of the record in bytes, from `address` on.
  let recordSize: Int

  /// Maximum size of an instance in bytes.
  private static let instanceSizeLimit = 1 << 24
  private static let recordSizeLimit = 1 << 20
  /// The descriptor is the last part of a record that is read.
  private static let minRecordSize = SWIFT_CLASS_DESCRIPTOR + 8
  private static let fieldLimit = 1 << 14

  /// Reads the record at an address. `nil` if it cannot be read, or cannot be the record of a class.
  init?(_ address: RuntimeAddress, in memory: some TargetMemory) {
    func word(_ offset: Int) -> UInt64? { memory.word(at: RuntimeAddress(address.rawValue &+ UInt64(offset))) }
    func half(_ offset: Int) -> Int? {
      memory.value(at: RuntimeAddress(address.rawValue &+ UInt64(offset)), as: UInt32.self).map { Int($0) }
    }
    guard let superclass = word(SWIFT_CLASS_SUPERCLASS), let instanceSize = half(SWIFT_CLASS_INSTANCE_SIZE),
      let size = half(SWIFT_CLASS_SIZE), let addressPoint = half(SWIFT_CLASS_ADDRESS_POINT),
      let descriptor = word(SWIFT_CLASS_DESCRIPTOR)
    else { return nil }
    self.address = address
    self.superclass = RuntimeAddress(superclass)
    self.instanceSize = instanceSize
    recordSize = size - addressPoint
    self.descriptor = RuntimeAddress(descriptor)
    guard (SWIFT_OBJECT_HEADER...Self.instanceSizeLimit).contains(instanceSize),
      (Self.minRecordSize...Self.recordSizeLimit).contains(recordSize)
    else { return nil }
  }

  /// Returns the offsets of the class's own stored properties, in order of declaration; `nil` if they are not
  /// plausible.
  ///
  /// A property of no size has no offset (`nil`). The compiler writes 0 for it, which is the offset of the object's
  /// header.
  ///
  /// - Parameter parent: the superclass's metadata, if there is one.
  func fieldOffsets(parent: ClassMetadata?, in memory: some TargetMemory) -> [Int?]? {
    guard descriptor.rawValue != 0, let flags = half(SWIFT_DESCRIPTOR_FLAGS, in: memory),
      let count = half(SWIFT_CLASS_FIELD_COUNT, in: memory), let vector = half(SWIFT_CLASS_FIELD_VECTOR, in: memory)
    else { return nil }
    guard Int(lt_context_kind(flags)) == SWIFT_DESCRIBES_CLASS, count <= Self.fieldLimit else { return nil }
    if count == 0 { return [] }
    var start = Int(vector) * 8
    // The superclass may grow without recompilation of this class, so the vector begins at the end of the superclass's
    // record.
    if lt_flags_have_resilient_superclass(flags) { start += parent?.recordSize ?? 0 }
    guard start >= Self.minRecordSize, start + Int(count) * 8 <= recordSize else { return nil }
    let floor = parent?.instanceSize ?? SWIFT_OBJECT_HEADER
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
    guard let flags = half(SWIFT_DESCRIPTOR_FLAGS, in: memory), Int(lt_context_kind(flags)) == SWIFT_DESCRIBES_CLASS
    else { return nil }
    let offset: Int64
    if lt_flags_have_resilient_superclass(flags) {
      // The superclass may grow, so the offset is known only at run time. The runtime writes it to a separate record.
      guard let bounds = Self.relative(at: descriptor.rawValue &+ UInt64(SWIFT_CLASS_BOUNDS), in: memory),
        let own = memory.word(at: RuntimeAddress(bounds))
      else { return nil }
      offset = Int64(bitPattern: own)
    } else if lt_flags_have_negative_members(flags) {
      guard let words = half(SWIFT_CLASS_BOUNDS, in: memory) else { return nil }
      offset = -8 * Int64(words)
    } else {
      guard let words = half(SWIFT_CLASS_POSITIVE_WORDS, in: memory), let own = half(SWIFT_CLASS_OWN_WORDS, in: memory)
      else { return nil }
      offset = 8 * (Int64(words) - Int64(own))
    }
    return memory.word(at: RuntimeAddress(address.rawValue &+ UInt64(bitPattern: offset &+ 8 &* Int64(index)))).map {
      RuntimeAddress($0)
    }
  }

  /// Returns the names of the class's own stored properties, in order of declaration; `nil` if the program has no
  /// reflection data for the class.
  func fieldNames(count: Int, in memory: some TargetMemory) -> [String]? {
    func place(_ offset: Int, in fields: UInt64) -> RuntimeAddress { RuntimeAddress(fields &+ UInt64(offset)) }
    guard let fields = Self.relative(at: descriptor.rawValue &+ UInt64(SWIFT_DESCRIPTOR_FIELDS), in: memory),
      let recordSize = memory.value(at: place(SWIFT_FIELDS_RECORD_SIZE, in: fields), as: UInt16.self),
      recordSize >= SWIFT_FIELD_SIZE,
      let recorded = memory.value(at: place(SWIFT_FIELDS_COUNT, in: fields), as: UInt32.self), Int(recorded) == count
    else { return nil }
    var names: [String] = []
    names.reserveCapacity(count)
    for index in 0..<count {
      let field = SWIFT_FIELDS_RECORDS + index * Int(recordSize)
      guard let name = Self.relative(at: place(field + SWIFT_FIELD_NAME, in: fields).rawValue, in: memory),
        let text = Self.string(at: name, in: memory)
      else { return nil }
      names.append(text)
    }
    return names
  }

  /// Returns the 4 bytes at an offset in the descriptor.
  private func half(_ offset: Int, in memory: some TargetMemory) -> UInt32? {
    memory.value(at: RuntimeAddress(descriptor.rawValue &+ UInt64(offset)), as: UInt32.self)
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
