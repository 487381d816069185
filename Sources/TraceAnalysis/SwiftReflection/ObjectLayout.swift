// What reflection says of an object: where its references are, and what they are called.

/// How a reference counts towards the life of what it refers to.
public enum ReferenceStrength: Hashable, Sendable {
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
public struct ReferenceField: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case object
    /// The box of a captured variable, or of several.
    case variable
    /// A closure's context, which may be any object; its code is at `functionOffset` from the start of the same object or element.
    case closure(functionOffset: Int)
    /// The object in `any P` where P is for classes alone; witness tables follow.
    case existential
    /// A box of kind 0x501.
    case error
    /// `UnsafePointer` and its relatives.
    case rawPointer
  }

  /// From the start of the object or element, in bytes.
  public var offset: Int
  /// `viewModel`; `state.task` for a field of a structure; empty for a capture, which has none.
  public var name: String
  /// For a reference that is there in one case of an enumeration alone: the case's name, from the outermost, with dots. Not for optionals.
  /// Fields of several cases have the same offset.
  public var caseName: String?
  public var strength: ReferenceStrength
  public var kind: Kind
  /// Demangled, as far as it is known, without `Optional`.
  public var typeName: String
  /// The payloads that it is a part of, from the outermost: it is a reference if all their cases are active.
  public var payloads: [PayloadCase]
  /// The word is never 0, nor a number, where the reference is one: it refers to an object, and is not optional.
  public var isAlwaysSet: Bool

  public init(
    offset: Int, name: String, caseName: String? = nil, strength: ReferenceStrength, kind: Kind, typeName: String, payloads: [PayloadCase] = [],
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

/// A part of an object whose contents reflection does not know: any word of it may be a strong reference.
public struct OpaqueField: Hashable, Sendable {
  /// From the start of the object or element, in bytes.
  public var range: Range<Int>
  /// Empty if it is not known.
  public var name: String
  public var caseName: String?
  public var typeName: String
  /// For the buffer of an `any P`: where the metadata of the value in it is. See `SwiftReflection.value(ofTypeWithMetadata:)`.
  public var metadataOffset: Int?
  /// As `ReferenceField.payloads`.
  public var payloads: [PayloadCase]

  public init(range: Range<Int>, name: String, caseName: String? = nil, typeName: String, metadataOffset: Int? = nil, payloads: [PayloadCase] = []) {
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

/// How the values of a type are laid out.
public struct ValueLayout: Hashable, Sendable {
  public var typeName: String
  public var size: Int
  /// Distance from one element to the next, in bytes.
  public var stride: Int
  public var alignment: Int
  /// Offsets are from the start of the value.
  public var references: [ReferenceField]
  public var opaque: [OpaqueField]
  public var enumerations: [EnumerationLayout] = []
  /// Where values of less than a word stand: a `Bool`, an `Int32`, the tag of an enumeration. The rest of such a word is padding, which keeps what
  /// stood there before.
  public var narrow: [Range<Int>] = []
  /// What the layout assumes, and the value's own type has to confirm.
  var guess = LayoutGuess.none

  public var holdsNoReferences: Bool { references.isEmpty && opaque.isEmpty }
}

/// What is in a block behind its stored properties.
public enum ObjectTail: Hashable, Sendable {
  /// Not known, and nothing at all in most classes: any word may be a reference.
  case unknown
  /// Bytes without references, as in a string's storage.
  case plain
  /// Elements from `start` on, as many as the word at `countOffset` says.
  case array(start: Int, countOffset: Int, element: ValueLayout)
  /// Elements of a deque: a ring of as many slots from `start` on as the word at `capacityOffset` says, of which `countOffset` has how many are in use, and
  /// `firstOffset` the number of the first of them.
  case ring(start: Int, capacityOffset: Int, countOffset: Int, firstOffset: Int, element: ValueLayout)
  /// Elements of a set or a dictionary, in 2^(byte at `scaleOffset`) places of which those are in use whose bit is set in the bitmap at
  /// `bitmapOffset`. The words at `keysOffset` and `valuesOffset` are addresses of the first place. `value` is `nil` for a set.
  case hashTable(scaleOffset: Int, bitmapOffset: Int, keysOffset: Int, key: ValueLayout, valuesOffset: Int?, value: ValueLayout?)
}

/// Where an object's references are.
public struct ObjectLayout: Hashable, Sendable {
  public var typeName: String
  /// Of a class, from the nearest.
  public var superclassNames: [String] = []
  /// Bytes that `references` and `opaque` tell of; the rest of the block is the tail.
  public var size: Int
  /// In order of offset.
  public var references: [ReferenceField]
  public var opaque: [OpaqueField]
  public var enumerations: [EnumerationLayout]
  /// As `ValueLayout.narrow`.
  public var narrow: [Range<Int>]
  public var tail: ObjectTail

  public init(
    typeName: String, size: Int, references: [ReferenceField], opaque: [OpaqueField], enumerations: [EnumerationLayout] = [], narrow: [Range<Int>] = [],
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

  /// Without what stands outside of the object, as damaged metadata may have it.
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
