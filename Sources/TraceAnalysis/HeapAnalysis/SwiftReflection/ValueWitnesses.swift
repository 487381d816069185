// The runtime's own data about a type's values.

import CHeapScan
import TraceReading

/// The size and stride of a type's values, from its value witness table.
struct ValueWitnesses {
  let size: Int
  /// The number of bytes from one element of an array to the next.
  let stride: Int
  /// True if an `any P` holds such a value in its buffer, not in a box.
  let isInline: Bool

  /// Reads the value witnesses of the type whose metadata is at an address.
  init?(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory) {
    guard metadata.rawValue & 7 == 0, let table = Self.table(ofTypeWithMetadata: metadata, in: memory) else {
      return nil
    }
    self.init(table, in: memory)
  }

  /// Returns the address of the table of the type whose metadata is at an address.
  fileprivate static func table(
    ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory
  ) -> RuntimeAddress? {
    memory.word(at: RuntimeAddress(metadata.rawValue &- UInt64(SWIFT_WITNESSES_BEFORE))).map { RuntimeAddress($0) }
  }

  /// Reads the table at an address. `nil` unless size, stride and alignment are consistent. If the runtime made the
  /// table, the heap image may lack these numbers, and they are read as 0.
  init?(_ table: RuntimeAddress, in memory: some TargetMemory) {
    func place(_ offset: Int) -> RuntimeAddress { RuntimeAddress(table.rawValue &+ UInt64(offset)) }
    guard let size = memory.word(at: place(SWIFT_WITNESSES_SIZE)),
      let stride = memory.word(at: place(SWIFT_WITNESSES_STRIDE)),
      let flags = memory.value(at: place(SWIFT_WITNESSES_FLAGS), as: UInt32.self)
    else { return nil }
    func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
    let mask = UInt64(flags & UInt32(SWIFT_VALUE_ALIGNMENT_MASK))
    guard size < 1 << 32, stride == max(1, (size + mask) & ~mask), !has(SWIFT_VALUE_IS_INCOMPLETE)
    else { return nil }
    let isInline = !has(SWIFT_VALUE_IS_NOT_INLINE)
    guard !isInline || size <= UInt64(BufferedValue.bufferSize) else { return nil }
    self.size = Int(size)
    self.stride = Int(stride)
    self.isInline = isInline
  }
}

extension ValueSize {
  /// Reads the size of values of the type whose metadata is at an address. A table inside a loaded image was made by
  /// the compiler; any other table was made by the runtime.
  init(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory, isImage: (RuntimeAddress) -> Bool) {
    guard metadata.rawValue != 0, metadata.rawValue & 7 == 0,
      let table = ValueWitnesses.table(ofTypeWithMetadata: metadata, in: memory), table.rawValue != 0
    else {
      self = .unknown
      return
    }
    if let witnesses = ValueWitnesses(table, in: memory) {
      self = .known(witnesses.size, stride: witnesses.stride)
    } else {
      self = isImage(table) ? .unknown : .madeByRuntime
    }
  }
}
