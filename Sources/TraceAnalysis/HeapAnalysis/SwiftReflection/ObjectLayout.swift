// Layouts by reflection: the places of an object's references, and their names.

/// How a reference counts towards the life of its target.
package enum ReferenceStrength: Hashable, Sendable {
  case strong
  /// The word is the address of a side table, not of the object.
  case weak
  case unowned
  /// Not counted: `unowned(unsafe)`, `Unmanaged`, and unsafe pointers, which may own memory that is no object.
  case unmanaged
}

/// One word of an object, or of an element, that may hold a reference.
///
/// Spare bits of the word, at the top and below the alignment, may hold a discriminator.
package struct ReferenceField: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case object
    /// The box of a captured variable, or of several.
    case variable
    /// A closure's context, which may be any object; its code is at `functionOffset` from the start of the same object
    /// or element.
    case closure(functionOffset: Int)
    /// The object in `any P` where P is for classes alone; witness tables follow.
    case existential
    /// A box of kind 0x501.
    case error
    /// `UnsafePointer` and its relatives.
    case rawPointer
  }

  /// From the start of the object or element, in bytes.
  package var offset: Int
  /// `viewModel`; `state.task` for a field of a structure; empty for a capture, which has none.
  package var name: String
  /// The case's name if the reference exists only in one case of an enumeration, from the outermost, with dots. Not for
  /// optionals. Fields of several cases have the same offset.
  package var caseName: String?
  package var strength: ReferenceStrength
  package var kind: Kind
  /// Demangled as far as known, without `Optional`.
  package var typeName: String
  /// The payloads that contain it, from the outermost: it is a reference if all their cases are active.
  package var payloads: [PayloadCase]
  /// The word is never 0 and never a number while it is a reference: it refers to an object, and is not optional.
  package var isAlwaysSet: Bool

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

  /// Returns the field `distance` bytes further on, as a part of a value with `count` enumerations before its own.
  func moved(by distance: Int, after count: Int = 0) -> ReferenceField {
    var moved = self
    moved.offset += distance
    if case .closure(let functionOffset) = kind { moved.kind = .closure(functionOffset: functionOffset + distance) }
    if count > 0 { moved.payloads = payloads.moved(after: count) }
    return moved
  }
}

/// A part of an object with contents unknown to reflection: any of its words may be a strong reference.
package struct OpaqueField: Hashable, Sendable {
  /// From the start of the object or element, in bytes.
  package var range: Range<Int>
  /// Empty if unknown.
  package var name: String
  package var caseName: String?
  package var typeName: String
  /// For the buffer of an `any P`: the offset of the metadata of the value in it. See
  /// `SwiftReflection.value(ofTypeWithMetadata:)`.
  package var metadataOffset: Int?
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
  package var enumerations: [EnumerationLayout] = []
  /// Ranges of values of less than a word: a `Bool`, an `Int32`, the tag of an enumeration. The rest of such a word is
  /// padding, which keeps its old contents.
  package var narrow: [Range<Int>] = []
  /// The assumptions of the layout, which the value's own type must confirm.
  var guess = LayoutGuess.none

  package var holdsNoReferences: Bool { references.isEmpty && opaque.isEmpty }
}

/// The contents of a block behind its stored properties.
package enum ObjectTail: Hashable, Sendable {
  /// Unknown, and empty in most classes: any word may be a reference.
  case unknown
  /// Bytes without references, as in a string's storage.
  case plain
  /// Elements from `start` on. The word at `countOffset` is their number.
  case array(start: Int, countOffset: Int, element: ValueLayout)
  /// A deque's elements: a ring of slots from `start` on. The word at `capacityOffset` is the number of slots, at
  /// `countOffset` the number of slots in use, and at `firstOffset` the number of the first slot in use.
  case ring(start: Int, capacityOffset: Int, countOffset: Int, firstOffset: Int, element: ValueLayout)
  /// Elements of a set or a dictionary, in 2^(byte at `scaleOffset`) slots. A slot is in use if its bit is set in the
  /// bitmap at `bitmapOffset`. The words at `keysOffset` and `valuesOffset` are addresses of the first slot. `value` is
  /// `nil` for a set.
  case hashTable(
    scaleOffset: Int, bitmapOffset: Int, keysOffset: Int, key: ValueLayout, valuesOffset: Int?, value: ValueLayout?)
}

/// The places of an object's references.
package struct ObjectLayout: Hashable, Sendable {
  package var typeName: String
  /// Names of a class's superclasses, from the nearest.
  package var superclassNames: [String] = []
  /// Bytes that `references` and `opaque` describe; the rest of the block is the tail.
  package var size: Int
  /// In order of offset.
  package var references: [ReferenceField]
  package var opaque: [OpaqueField]
  package var enumerations: [EnumerationLayout]
  /// See `ValueLayout.narrow`.
  package var narrow: [Range<Int>]
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

  /// The layout without parts outside of the object, which damaged metadata may have.
  var bounded: ObjectLayout {
    let header = 16
    func isInside(_ offset: Int) -> Bool { offset >= header && offset <= size - 8 }
    func isInside(_ range: Range<Int>) -> Bool { range.lowerBound >= header && range.upperBound <= size }
    if references.allSatisfy({ isInside($0.offset) }), opaque.allSatisfy({ isInside($0.range) }) { return self }
    var layout = self
    layout.references.removeAll { !isInside($0.offset) }
    layout.opaque.removeAll { !isInside($0.range) }
    return layout
  }
}
