// Layouts from reflection: the offsets of an object's references, and their names.

import CHeapScan

/// How a reference keeps its target.
package enum ReferenceStrength: Hashable, Sendable {
  case strong
  /// The word is the address of a side table, not of the object.
  case weak
  case unowned
  /// The reference is not counted: `unowned(unsafe)`, `Unmanaged`, and unsafe pointers. An unsafe pointer may own
  /// memory that is not an object.
  case unmanaged
}

/// A word of an object, or of an element, that may hold a reference.
///
/// Spare bits of the word, at the top and below the alignment, may hold a discriminator.
package struct ReferenceField: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case object
    /// The box of one or more captured variables.
    case variable
    /// A closure's context, which may be any object. The address of the closure's code is at `functionOffset` in the
    /// same object or element.
    case closure(functionOffset: Int)
    /// The object in an `any P` if only classes can conform to P. Witness tables follow.
    case existential
    /// The box of an error, with metadata of kind SWIFT_KIND_ERROR.
    case error
    /// An unsafe pointer, such as `UnsafePointer`.
    case rawPointer
  }

  /// From the start of the object or element, in bytes.
  package var offset: Int
  /// The field's name, such as `viewModel`, or `state.task` for a field of a structure. Empty for a capture, which has
  /// no name.
  package var name: String
  /// The name of the case, if the reference exists only in one case of an enumeration. For nested enumerations: the
  /// names from the outermost case on, separated by dots. Optionals have no case name. Fields of different cases may
  /// have the same offset.
  package var caseName: String?
  package var strength: ReferenceStrength
  package var kind: Kind
  /// The name of the target's type, without `Optional`; demangled if possible.
  package var typeName: String
  /// The payloads that contain the word, from the outermost. The word is a reference if the case of each payload is
  /// active.
  package var payloads: [PayloadCase]
  /// True if the reference refers to an object and is not optional. While its payloads are active, the word is never 0
  /// and never a number.
  var isAlwaysSet: Bool

  package init(
    offset: Int, name: String, caseName: String? = nil, strength: ReferenceStrength, kind: Kind, typeName: String,
    payloads: [PayloadCase] = [],
    isAlwaysSet: Bool = false
  ) {
    self.offset = offset
    self.name = name
    self.caseName = caseName
    self.strength = strength
    self.kind = kind
    self.typeName = typeName
    self.payloads = payloads
    self.isAlwaysSet = isAlwaysSet
  }

  /// Returns the field as a part of a larger value, moved by `distance` bytes. The larger value has `count`
  /// enumerations before its own.
  func moved(by distance: Int, after count: Int = 0) -> ReferenceField {
    var moved = self
    moved.offset += distance
    if case .closure(let functionOffset) = kind { moved.kind = .closure(functionOffset: functionOffset + distance) }
    if count > 0 { moved.payloads = payloads.moved(after: count) }
    return moved
  }
}

/// A part of an object whose contents are unknown to reflection. Any of its words may be a strong reference.
package struct OpaqueField: Hashable, Sendable {
  /// From the start of the object or element, in bytes.
  package var range: Range<Int>
  /// Empty if unknown.
  package var name: String
  package var caseName: String?
  package var typeName: String
  /// For the buffer of an `any P`: the offset of the metadata of the value in it. See
  /// `SwiftReflection.value(ofTypeWithMetadata:)`.
  var metadataOffset: Int?
  /// See `ReferenceField.payloads`.
  package var payloads: [PayloadCase]

  package init(
    range: Range<Int>, name: String, caseName: String? = nil, typeName: String, metadataOffset: Int? = nil,
    payloads: [PayloadCase] = []
  ) {
    self.range = range
    self.name = name
    self.caseName = caseName
    self.typeName = typeName
    self.metadataOffset = metadataOffset
    self.payloads = payloads
  }

  /// See `ReferenceField.moved`.
  func moved(by distance: Int, after count: Int = 0) -> OpaqueField {
    var moved = self
    moved.range = range.lowerBound + distance..<range.upperBound + distance
    moved.metadataOffset = metadataOffset.map { $0 + distance }
    if count > 0 { moved.payloads = payloads.moved(after: count) }
    return moved
  }
}

/// The layout of a type's values.
package struct ValueLayout: Hashable, Sendable {
  package var typeName: String
  package var size: Int
  /// Distance from one element to the next, in bytes.
  package var stride: Int
  package var alignment: Int
  /// Offsets are from the start of the value.
  package var references: [ReferenceField]
  package var opaque: [OpaqueField]
  var enumerations: [EnumerationLayout] = []
  /// Ranges of parts that are smaller than a word, such as a `Bool`, an `Int32`, or the tag of an enumeration. The rest
  /// of such a word is padding, which keeps its old contents.
  var narrow: [Range<Int>] = []
  /// The assumptions of the layout that the size in the type's runtime metadata must confirm.
  var guess = LayoutGuess.none

  /// Returns the offset of the first value in memory that begins at `start`.
  func firstOffset(from start: Int) -> Int { (start + alignment - 1) & ~(alignment - 1) }

  var holdsNoReferences: Bool { references.isEmpty && opaque.isEmpty }
}

/// The contents of a block after its stored properties.
package enum ObjectTail: Hashable, Sendable {
  /// The contents are unknown, so any word may be a reference. In most classes there are none.
  case unknown
  /// Bytes without references, as in the storage of a string.
  case plain
  /// Elements from `start` on. The word at `countOffset` is the number of elements.
  case array(start: Int, countOffset: Int, element: ValueLayout)
  /// A deque's elements: a ring of slots from `start` on. The word at `capacityOffset` is the number of slots, at
  /// `countOffset` the number of slots in use, and at `firstOffset` the number of the first slot in use.
  case ring(start: Int, capacityOffset: Int, countOffset: Int, firstOffset: Int, element: ValueLayout)
  /// Elements of a set or a dictionary, in 2^(byte at `scaleOffset`) slots. A slot is in use if its bit is set in the
  /// bitmap at `bitmapOffset`. The words at `keysOffset` and `valuesOffset` are the addresses of the first key and the
  /// first value. `value` is `nil` for a set.
  case hashTable(
    scaleOffset: Int, bitmapOffset: Int, keysOffset: Int, key: ValueLayout, valuesOffset: Int?, value: ValueLayout?)
}

/// The layout of an object: the places of its references.
package struct ObjectLayout: Hashable, Sendable {
  package var typeName: String
  /// Names of a class's superclasses, from the nearest.
  var superclassNames: [String] = []
  /// The number of bytes that `references` and `opaque` describe. The rest of the block is the tail.
  package var size: Int
  /// The references, in order of offset.
  package var references: [ReferenceField]
  package var opaque: [OpaqueField]
  var enumerations: [EnumerationLayout]
  /// See `ValueLayout.narrow`.
  var narrow: [Range<Int>]
  package var tail: ObjectTail

  package init(
    typeName: String, size: Int, references: [ReferenceField], opaque: [OpaqueField],
    enumerations: [EnumerationLayout] = [], narrow: [Range<Int>] = [],
    tail: ObjectTail
  ) {
    self.typeName = typeName
    self.size = size
    self.references = references
    self.opaque = opaque
    self.enumerations = enumerations
    self.narrow = narrow
    self.tail = tail
  }

  /// The layout without parts that lie outside the object. Damaged metadata may describe such parts.
  var bounded: ObjectLayout {
    let header = SWIFT_OBJECT_HEADER
    func isInside(_ offset: Int) -> Bool { offset >= header && offset <= size - 8 }
    func isInside(_ range: Range<Int>) -> Bool { range.lowerBound >= header && range.upperBound <= size }
    if references.allSatisfy({ isInside($0.offset) }), opaque.allSatisfy({ isInside($0.range) }) { return self }
    var layout = self
    layout.references.removeAll { !isInside($0.offset) }
    layout.opaque.removeAll { !isInside($0.range) }
    return layout
  }
}
