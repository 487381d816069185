// The runtime's own data about a type's values.

import TraceReading

/// The size and stride of a type's values, from its value witness table. Layouts: swift/ABI/Metadata.h,
/// swift/ABI/MetadataValues.h (ValueWitnessFlags); seen with Swift 6.1.2 and 6.3.1.
struct ValueWitnesses {
  let size: Int
  /// The number of bytes from one element of an array to the next.
  let stride: Int
  /// True if an `any P` holds such a value in its buffer, not in a box.
  let isInline: Bool

  /// Reads the value witnesses of the type whose metadata is at an address.
  init?(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory) {
    guard metadata.rawValue & 7 == 0, let table = memory.word(at: RuntimeAddress(metadata.rawValue &- 8)) else {
      return nil
    }
    self.init(RuntimeAddress(table), in: memory)
  }

  private static let sizeOffset: UInt64 = 64
  private static let strideOffset: UInt64 = 72
  private static let flagsOffset: UInt64 = 80
  private static let alignmentMask: UInt32 = 0xFF
  private static let isNotInline: UInt32 = 0x2_0000
  private static let isIncomplete: UInt32 = 0x40_0000

  /// Reads the table at an address. `nil` unless size, stride and alignment fit each other. If the runtime made the
  /// table, the image may lack the numbers, and they are read as 0.
  init?(_ table: RuntimeAddress, in memory: some TargetMemory) {
    func place(_ offset: UInt64) -> RuntimeAddress { RuntimeAddress(table.rawValue &+ offset) }
    guard let size = memory.word(at: place(Self.sizeOffset)), let stride = memory.word(at: place(Self.strideOffset)),
      let flags = memory.value(at: place(Self.flagsOffset), as: UInt32.self)
    else { return nil }
    let mask = UInt64(flags & Self.alignmentMask)
    guard size < 1 << 32, stride == max(1, (size + mask) & ~mask), flags & Self.isIncomplete == 0 else { return nil }
    let isInline = flags & Self.isNotInline == 0
    guard !isInline || size <= UInt64(BufferedValue.bufferSize) else { return nil }
    self.size = Int(size)
    self.stride = Int(stride)
    self.isInline = isInline
  }
}

extension ValueSize {
  /// Reads the size of values of the type whose metadata is at an address. The compiler made a table that lies in an
  /// image; the runtime made any other.
  init(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory, isImage: (RuntimeAddress) -> Bool) {
    guard metadata.rawValue != 0, metadata.rawValue & 7 == 0,
      let table = memory.word(at: RuntimeAddress(metadata.rawValue &- 8)), table != 0
    else {
      self = .unknown
      return
    }
    if let witnesses = ValueWitnesses(RuntimeAddress(table), in: memory) {
      self = .known(witnesses.size, stride: witnesses.stride)
    } else {
      self = isImage(RuntimeAddress(table)) ? .unknown : .madeByRuntime
    }
  }
}
