// The form of a value in the buffer of an `any P`.

import TraceReading

/// The buffer of an `any P` has three words, for any value: they hold the value, or a box with it. A smaller value
/// leaves the remaining words unchanged.
///
/// Layouts: swift/ABI/Metadata.h, swift/ABI/MetadataValues.h (ValueWitnessFlags); seen with Swift 6.1.2 and 6.3.1.
package enum BufferedValue: Hashable, Sendable {
  /// The first word refers to an object: the value, an instance of a class, or the box that has it.
  case object
  /// The value itself. `layout` is `nil` if only its size is known.
  case inline(size: Int, layout: ValueLayout?)

  package static let bufferSize = 24

  /// Reads the form of values of the type whose metadata is at an address; `nil` if there is no sound metadata, or if
  /// parts of it are unknown.
  ///
  /// - Parameter layout: returns the layout of the type's values; called only if they are stored in place.
  init?(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory, layout: () -> ValueLayout?) {
    guard metadata.rawValue & 7 == 0, let kind = memory.word(at: metadata) else { return nil }
    switch kind {
    case 0, 0x800...:
      guard ClassMetadata(metadata, in: memory) != nil else { return nil }
      self = .object
    case 0x200...0x3FF:
      guard let value = ValueWitnesses(ofTypeWithMetadata: metadata, in: memory) else { return nil }
      guard value.isInline else {
        self = .object
        return
      }
      let found =
        value.size > 0
        ? layout() : ValueLayout(typeName: "", size: 0, stride: 1, alignment: 1, references: [], opaque: [])
      self = .inline(size: value.size, layout: found?.size == value.size ? found : nil)
    default: return nil
    }
  }
}
