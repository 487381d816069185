// How a value stands in the buffer of an `any P`.

/// Three words are an `any P`'s buffer, whatever value is in it: the value, or a box with it. A value that is smaller leaves the rest as it was.
///
/// Layouts: swift/ABI/Metadata.h, swift/ABI/MetadataValues.h (ValueWitnessFlags); seen with Swift 6.1.2 and 6.3.1.
public enum BufferedValue: Hashable, Sendable {
  /// The first word refers to an object: the value, an instance of a class, or the box that has it.
  case object
  /// The value itself. `layout` is `nil` if nothing but its size is known.
  case inline(size: Int, layout: ValueLayout?)

  static let bufferSize = 24

  /// Of values of the type whose metadata is at an address; `nil` if what is there is no sound metadata, or not all of it is known.
  ///
  /// - Parameter layout: of values of the type, asked for if they are stored in place.
  init?(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory, layout: () -> ValueLayout?) {
    guard metadata.rawValue & 7 == 0, let kind = memory.word(at: metadata) else { return nil }
    switch kind {
    case 0, 0x800...:
      guard ClassMetadata(metadata, in: memory) != nil else { return nil }
      self = .object
    case 0x200...0x3FF:
      guard let witnesses = memory.word(at: RuntimeAddress(metadata.rawValue &- 8)), let value = ValueWitnesses(RuntimeAddress(witnesses), in: memory) else {
        return nil
      }
      guard value.isInline else {
        self = .object
        return
      }
      let found = value.size > 0 ? layout() : ValueLayout(typeName: "", size: 0, stride: 1, alignment: 1, references: [], opaque: [])
      self = .inline(size: value.size, layout: found?.size == value.size ? found : nil)
    default: return nil
    }
  }
}

/// What a type's value witness table says of its values' size.
private struct ValueWitnesses {
  let size: Int
  /// An `any P` has them in its buffer.
  let isInline: Bool

  private static let sizeOffset: UInt64 = 64
  private static let strideOffset: UInt64 = 72
  private static let flagsOffset: UInt64 = 80
  private static let alignmentMask: UInt32 = 0xFF
  private static let isNotInline: UInt32 = 0x2_0000
  private static let isIncomplete: UInt32 = 0x40_0000

  /// `nil` unless size, stride and alignment fit each other: of a table that the runtime made, the image may lack the numbers, which read as 0 then.
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
    self.isInline = isInline
  }
}
