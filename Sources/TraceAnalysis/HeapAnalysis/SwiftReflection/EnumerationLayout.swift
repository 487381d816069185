// The bytes that identify the case of an enumeration's value.

/// A case of an enumeration with a payload, as parts of the payload refer to it.
package struct PayloadCase: Hashable, Sendable {
  /// Index into the enumerations of the same layout.
  package var enumeration: Int
  /// Index of the case, in the order of the reflection data: cases with payloads first.
  package var index: Int

  package init(enumeration: Int, index: Int) {
    self.enumeration = enumeration
    self.index = index
  }
}

/// An enumeration within an object or a value: only the payload of the active case is meaningful.
///
/// Enumerations with a single reference in a single payload, such as optional objects, need none: the reference is
/// there or not.
package struct EnumerationLayout: Hashable, Sendable {
  /// The bytes of a value that identify its case.
  package enum Discriminator: Hashable, Sendable {
    /// Their place is unknown.
    case unknown
    /// A number made of `bits`, lowest first, each counted from the start of the object or element. `cases` has the
    /// case for each number; `nil` for a case without payload, and for no case at all.
    case tag(bits: [Int], cases: [Int?])
    /// The word at an offset, in bytes, is an address if the payload is there, and a small number otherwise.
    case address(offset: Int)
    /// The word at an offset, in bytes, is an address or 0 if the payload is there, and a small number otherwise: an
    /// optional reference of the payload's own.
    case number(offset: Int)
    /// None of these bits is set if the payload is there.
    case zeros(bits: [Int])
  }

  /// Named like `ReferenceField.name`; empty for the value itself.
  package var name: String
  /// The payloads that it is a part of, from the outermost. Their enumerations come before this one.
  package var payloads: [PayloadCase]
  package var discriminator: Discriminator
  /// A change to another case may leave the words of the earlier payload. The value has parts that can only be copied
  /// in place, such as `any P`, weak references, and values of generic type.
  package var keepsOldWords: Bool

  /// Offsets, in bytes, of words that hold a reference or nothing in each payload, besides bits of the case. Such a
  /// word is 0 if the image lacks it.
  package var referenceWords: Set<Int>

  package init(
    name: String, payloads: [PayloadCase] = [], discriminator: Discriminator, keepsOldWords: Bool = false,
    referenceWords: Set<Int> = []
  ) {
    self.name = name
    self.payloads = payloads
    self.discriminator = discriminator
    self.keepsOldWords = keepsOldWords
    self.referenceWords = referenceWords
  }

  /// Returns the enumeration `offset` bytes further on, as a part of a value with `count` enumerations before it.
  func moved(by offset: Int, after count: Int) -> EnumerationLayout {
    var moved = self
    moved.payloads = payloads.moved(after: count)
    moved.referenceWords = Set(referenceWords.map { $0 + offset })
    moved.discriminator =
      switch discriminator {
      case .unknown: .unknown
      case .tag(let bits, let cases): .tag(bits: bits.map { $0 + offset * 8 }, cases: cases)
      case .address(let place): .address(offset: place + offset)
      case .number(let place): .number(offset: place + offset)
      case .zeros(let bits): .zeros(bits: bits.map { $0 + offset * 8 })
      }
    return moved
  }
}

extension [PayloadCase] {
  func moved(after count: Int) -> [PayloadCase] {
    map { PayloadCase(enumeration: $0.enumeration + count, index: $0.index) }
  }
}
