// How the buffer of an `any P` stores a value.

import CHeapScan
import TraceReading

/// How the buffer of an `any P` stores a value. The buffer always has three words. They hold either the value itself,
/// or a reference to a box with the value. If the value is smaller, the remaining words keep old contents.
///
/// Seen with Swift 6.1.2 and 6.3.1.
package enum BufferedValue: Hashable, Sendable {
  /// The first word refers to an object: the value is an instance of a class, or is in a box.
  case object
  /// The buffer holds the value itself. `layout` is `nil` if only the value's size is known.
  case inline(size: Int, layout: ValueLayout?)

  package static let bufferSize = SWIFT_EXISTENTIAL_BUFFER

  /// Finds how values of the type with the given metadata are stored. `nil` if the metadata is not valid, or if parts
  /// of the metadata are unknown.
  ///
  /// - Parameter layout: returns the layout of the type's values. Called only if the buffer holds the value itself.
  init?(ofTypeWithMetadata metadata: RuntimeAddress, in memory: some TargetMemory, layout: () -> ValueLayout?) {
    guard metadata.rawValue & 7 == 0, let kind = memory.word(at: metadata).map(lt_metadata_kind) else { return nil }
    switch kind {
    case UInt64(SWIFT_KIND_CLASS):
      guard ClassMetadata(metadata, in: memory) != nil else { return nil }
      self = .object
    case _ where lt_is_value_kind(kind):
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
