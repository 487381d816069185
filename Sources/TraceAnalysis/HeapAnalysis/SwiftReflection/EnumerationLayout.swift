// The bits that identify the active case of an enumeration's value.

/// A case with a payload. Parts of the payload refer to their case by this value.
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
/// An enumeration with one payload that is a single reference, such as an optional object, needs no such layout. Its
/// word is either a reference or not.
package struct EnumerationLayout: Hashable, Sendable {
  /// How to find the active case of a value.
  package enum Discriminator: Hashable, Sendable {
    /// It is unknown which bits identify the case.
    case unknown
    /// The case is a number. `bits` are the offsets of the number's bits from the start of the object or element,
    /// lowest bit first. `cases` has the case for each number. It is `nil` for a case without payload, and for a number
    /// without a case.
    case tag(bits: [Int], cases: [Int?])
    /// The word at an offset, in bytes, is an address if the payload is active, and a small number otherwise.
    case address(offset: Int)
    /// The word at an offset, in bytes, is an address or 0 if the payload is active, and a small number otherwise. The
    /// payload has an optional reference there.
    case number(offset: Int)
    /// All these bits are 0 if the payload is active.
    case zeros(bits: [Int])
  }

  /// Follows the rules of `ReferenceField.name`; empty if the enumeration is the value itself.
  package var name: String
  /// The payloads that contain this enumeration, from the outermost. Their enumerations come before this one.
  package var payloads: [PayloadCase]
  package var discriminator: Discriminator
  /// True if words of an earlier payload may remain after a change to another case. This happens if the value has parts
  /// that can only be copied in place, such as `any P`, weak references, and values of generic types.
  var keepsOldWords: Bool

  /// Byte offsets of words that hold a reference or nothing in each payload, apart from bits of the case. If the heap
  /// image lacks such a word, the word is 0.
  var referenceWords: Set<Int>

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

  /// Returns the enumeration as a part of a larger value, at `offset` bytes and after `count` other enumerations.
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
