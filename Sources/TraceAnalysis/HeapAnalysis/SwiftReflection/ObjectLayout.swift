// Layouts by reflection: the places of an object's references, and their names.

/// The way in which a reference counts towards the life of its target.
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
  /// For a reference that is there in one case of an enumeration alone: the case's name, from the outermost, with dots.
  /// Not for optionals.
  /// Fields of several cases have the same offset.
  package var caseName: String?
  package var strength: ReferenceStrength
  package var kind: Kind
  /// Demangled, as far as it is known, without `Optional`.
  package var typeName: String
  /// The payloads that it is a part of, from the outermost: it is a reference if all their cases are active.
  package var payloads: [PayloadCase]
  /// The word is never 0, nor a number, where the reference is one: it refers to an object, and is not optional.
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

  /// The same `distance` bytes further on, as a part of a value with `count` enumerations before its own.
  func moved(by distance: Int, after count: Int = 0) -> ReferenceField {
    var moved = self
    moved.offset += distance
    if case .closure(let functionOffset) = kind { moved.kind = .closure(functionOffset: functionOffset + distance) }
    if count > 0 { moved.payloads = payloads.moved(after: count) }
    return moved
  }
}

/// A part of an object with contents unknown to reflection: any word of it may be a strong reference.
package struct OpaqueField: Hashable, Sendable {
  /// From the start of the object or element, in bytes.
  package var range: Range<Int>
  /// Empty if it is not known.
  package var name: String
  package var caseName: String?
  package var typeName: String
  /// In the buffer of an `any P`: the place of the metadata of the value in it. See
  /// `SwiftReflection.value(ofTypeWithMetadata:)`.
  package var metadataOffset: Int?
  /// As `ReferenceField.payloads`.
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

  /// As `ReferenceField.moved`.
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
  /// The assumptions of the layout, which the value's own type has to confirm.
  var guess = LayoutGuess.none

  package var holdsNoReferences: Bool { references.isEmpty && opaque.isEmpty }
}

/// The contents of a block behind its stored properties.
package enum ObjectTail: Hashable, Sendable {
  /// Not known, and nothing at all in most classes: any word may be a reference.
  case unknown
  /// Bytes without references, as in a string's storage.
  case plain
  /// Elements from `start` on, as many as the word at `countOffset` says.
  case array(start: Int, countOffset: Int, element: ValueLayout)
  /// Elements of a deque: a ring of as many slots from `start` on as the word at `capacityOffset` says, of which
  /// `countOffset` has how many are in use, and
  /// `firstOffset` the number of the first of them.
  case ring(start: Int, capacityOffset: Int, countOffset: Int, firstOffset: Int, element: ValueLayout)
  /// Elements of a set or a dictionary, in 2^(byte at `scaleOffset`) places of which those are in use whose bit is set
  /// in the bitmap at
  /// `bitmapOffset`. The words at `keysOffset` and `valuesOffset` are addresses of the first place. `value` is `nil`
  /// for a set.
  case hashTable(
    scaleOffset: Int, bitmapOffset: Int, keysOffset: Int, key: ValueLayout, valuesOffset: Int?, value: ValueLayout?)
}

/// The places of an object's references.
package struct ObjectLayout: Hashable, Sendable {
  package var typeName: String
  /// Names of a class's superclasses, from the nearest.
  package var superclassNames: [String] = []
  /// Bytes that `references` and `opaque` tell of; the rest of the block is the tail.
  package var size: Int
  /// In order of offset.
  package var references: [ReferenceField]
  package var opaque: [OpaqueField]
  package var enumerations: [EnumerationLayout]
  /// As `ValueLayout.narrow`.
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
