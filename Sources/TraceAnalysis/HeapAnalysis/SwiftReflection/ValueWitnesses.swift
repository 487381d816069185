// The runtime's own figures of a type's values.

import TraceReading

/// The sizes of a type's values, by its value witness table. Layouts: swift/ABI/Metadata.h, swift/ABI/MetadataValues.h
/// (ValueWitnessFlags); seen with Swift 6.1.2 and 6.3.1.
struct ValueWitnesses {
  let size: Int
  /// From one element of an array to the next.
  let stride: Int
  /// An `any P` has them in its buffer.
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

  /// `nil` unless size, stride and alignment fit each other: of a table that the runtime made, the image may lack the
  /// numbers, which read as 0 then.
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
  /// Reads the size of values of the type whose metadata is at an address. A table in an image is the compiler's, one
  /// elsewhere the runtime's.
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
