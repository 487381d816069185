// An enumeration among the parts of a value, prepared for reading its values.

import CHeapScan

/// The words of a value that identify the active payload of an enumeration. Each case with parts has one bit, in order.
///
/// Immutable. This is a class so that reading a heap's millions of values copies nothing.
final class PayloadSelector {
  /// A condition of a reference or an opaque part: one of these cases of a selector must be active.
  struct Condition {
    var selector: Int
    var cases: UInt64
  }

  /// A word with bits that depend on the case.
  struct Word {
    var offset: UInt64
    var mask: UInt64
    /// True if the word is in `EnumerationLayout.referenceWords`.
    var isReference = false
  }

  /// A word that is an address in some cases.
  struct Required {
    var offset: UInt64
    var cases: UInt64
    /// True if the address leads to a type's metadata.
    var isMetadata = false
  }

  enum Discriminator {
    case unknown
    /// The bits of the words form a number. The lowest bit of the first word is the number's lowest bit.
    case tag
    /// The first word is an address if the payload is active.
    case address
    /// The first word is an address or 0 if the payload is active, and a small number otherwise.
    case number
    /// All bits of the words are 0 if the payload is active.
    case zeros
  }

  let discriminator: Discriminator
  let words: [Word]
  /// For a tag: the bit of the case for each number, or 0 if that case has no parts.
  let table: [UInt64]
  /// For an address: true if a word that the heap image lacks is certainly no payload. False if the payload may be a
  /// short string, which has no address.
  let isCertain: Bool
  let enclosing: [Condition]
  /// The bits of all cases with parts.
  let cases: UInt64
  let required: [Required]
  let keepsOldWords: Bool

  /// Values of a byte that are not the number of a case. The recorder does not keep such bytes.
  static let neverCases = LT_FIRST_NEVER_CASE..<LT_END_OF_NEVER_CASES
  /// True if the tag takes at least a byte. Then no case of the tag is in `neverCases`.
  var hasByteTag: Bool { table.count >= Self.neverCases.upperBound }

  /// Cases from this index on share the last bit, and are never distinguished.
  static let caseLimit = 63
  static let shared = UInt64(1) << UInt64(caseLimit)
  /// Maximum number of enumerations in one value. Real values have a few dozen. If a value has more than that, its
  /// cases are not distinguished.
  static let limit = 4096

  static func bit(_ ordinal: Int) -> UInt64 { 1 << UInt64(min(ordinal, caseLimit)) }

  /// `bit`: returns the bit of a case, given the case's index.
  init(
    _ enumeration: EnumerationLayout, enclosing: [Condition], cases: UInt64, required: [Required],
    references: [NodeLayout.Reference], bit: (Int) -> UInt64
  ) {
    self.enclosing = enclosing
    self.cases = cases
    self.required = required
    keepsOldWords = enumeration.keepsOldWords
    switch enumeration.discriminator {
    case .tag(let bits, let numbers) where Self.isReadable(bits, numbers):
      discriminator = .tag
      words = Self.words(bits, enumeration.referenceWords)
      table = numbers.map { $0.map(bit) ?? 0 }
      isCertain = false
    case .address(let offset):
      let place = UInt64(clamping: offset)
      discriminator = .address
      words = [Word(offset: place, mask: .max)]
      table = []
      isCertain = references.allSatisfy { $0.offset != place || $0.isRequired }
    case .number(let offset):
      discriminator = .number
      words = [Word(offset: UInt64(clamping: offset), mask: .max)]
      table = []
      isCertain = false
    case .zeros(let bits):
      discriminator = .zeros
      words = Self.words(bits, [])
      table = []
      isCertain = false
    case .unknown, .tag:
      discriminator = .unknown
      words = []
      table = []
      isCertain = false
    }
  }

  /// Returns whether a tag can be read. The recorder does not keep bytes in `neverCases`, and they would be read as 0.
  /// So a tag with a case in `neverCases` cannot be read.
  private static func isReadable(_ bits: [Int], _ numbers: [Int?]) -> Bool {
    guard bits.count < 16, zip(bits, bits.dropFirst()).allSatisfy({ $0 < $1 }) else { return false }
    return numbers.count < neverCases.upperBound || numbers[neverCases].allSatisfy { $0 == nil }
  }

  private static func words(_ bits: [Int], _ referenceWords: Set<Int>) -> [Word] {
    var words: [Word] = []
    for bit in bits.sorted() where bit >= 0 {
      let offset = bit / 64 * 8
      if words.last?.offset != UInt64(offset) {
        words.append(Word(offset: UInt64(offset), mask: 0, isReference: referenceWords.contains(offset)))
      }
      words[words.count - 1].mask |= 1 << UInt64(bit % 64)
    }
    return words
  }
}
