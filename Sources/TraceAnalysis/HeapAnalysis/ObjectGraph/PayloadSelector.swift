// An enumeration among the parts of a value, prepared for reading its values.

/// The words of a value that identify the payload in use. The cases with parts have a bit each, in order.
///
/// Immutable, and a class because values are read by the million: nothing of it is copied.
final class PayloadSelector {
  /// A reference or an opaque part counts if these cases of a selector are active.
  struct Condition {
    var selector: Int
    var cases: UInt64
  }

  /// A word with bits that depend on the case.
  struct Word {
    var offset: UInt64
    var mask: UInt64
    /// `EnumerationLayout.referenceWords` has it.
    var isReference = false
  }

  /// A word that is an address in some cases.
  struct Required {
    var offset: UInt64
    var cases: UInt64
    /// The address leads to a type's metadata.
    var isMetadata = false
  }

  enum Discriminator {
    case unknown
    /// The words' bits make a number, the first word's lowest bit its lowest.
    case tag
    /// The first word is an address if the payload is there.
    case address
    /// The first word is an address or 0 if the payload is there, and a small number otherwise.
    case number
    /// None of the words' bits is set if the payload is there.
    case zeros
  }

  let discriminator: Discriminator
  let words: [Word]
  /// A tag's cases: for each number the case's bit, 0 for none.
  let table: [UInt64]
  /// True for an address if a word missing from the image is no address. False if the word may be a short string.
  let isCertain: Bool
  let enclosing: [Condition]
  /// All its cases that have parts.
  let cases: UInt64
  let required: [Required]
  let keepsOldWords: Bool

  /// Bytes that are no case: a byte counts cases from 0, and values without a case from 255 down.
  static let neverCases = 16..<240
  /// The tag is a number of a byte or more, and none of `neverCases` is a case of it.
  var hasByteTag: Bool { table.count >= Self.neverCases.upperBound }

  /// Cases beyond this number share the last bit, and are never distinguished.
  static let caseLimit = 63
  static let shared = UInt64(1) << UInt64(caseLimit)
  /// Enumerations of one value; real ones have some dozens. If a value has more, its cases are not distinguished.
  static let limit = 4096

  static func bit(_ ordinal: Int) -> UInt64 { 1 << UInt64(min(ordinal, caseLimit)) }

  /// `bit`: the bit of a case, by its index.
  init(
    _ enumeration: EnumerationLayout, enclosing: [Condition], cases: UInt64, required: [Required],
    references: [NodeLayout.Reference], bit: (Int) -> UInt64
  ) {
    self.enclosing = enclosing
    self.cases = cases
    self.required = required
    keepsOldWords = enumeration.keepsOldWords
    switch enumeration.discriminator {
    case .tag(let bits, let numbers) where Self.isTold(bits, numbers):
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

  /// A byte that counts further than the recorder takes for a case is not in the image, and would be read as 0.
  private static func isTold(_ bits: [Int], _ numbers: [Int?]) -> Bool {
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
