// Which payloads of a value's enumerations mean anything.

/// An enumeration among the parts of a value, made ready for looking at its values. Its cases with parts have a bit each, in order.
struct PayloadSelector {
  /// A reference or an opaque part counts if these cases of a selector are active.
  struct Condition {
    var selector: Int
    var cases: UInt64
  }

  /// Bits of one word that belong to the number.
  struct TagWord {
    var offset: UInt64
    /// Bits of the word, and where each stands in the number.
    var bits: [(from: UInt64, to: UInt64)]
  }

  enum Discriminator {
    case unknown
    /// For each number the case's bit, 0 for none.
    case tag([TagWord], cases: [UInt64])
    /// `isCertain`: a word that the image has not is no address. Not so where short strings may stand.
    case address(offset: UInt64, isCertain: Bool)
    case zeros([(offset: UInt64, mask: UInt64)])
  }

  var discriminator: Discriminator
  var enclosing: [Condition]
  /// All its cases that have parts.
  var cases: UInt64
  /// A word that is an address in these cases.
  struct Required {
    var offset: UInt64
    var cases: UInt64
    /// The address is that of a type's metadata.
    var isMetadata = false
  }

  var required: [Required] = []
  var keepsOldWords: Bool

  /// Cases beyond share the last bit, and are never told apart.
  static let caseLimit = 63
  static let shared = UInt64(1) << UInt64(caseLimit)

  static func bit(_ ordinal: Int) -> UInt64 { 1 << UInt64(min(ordinal, caseLimit)) }
}

/// The active cases of a value's enumerations, as far as the image has what tells them.
///
/// Where it does not, all cases that are possible count as active, and none by name: a reference that is missed makes a leak of what is none, and a
/// wrong name misleads. One is used for all values of a heap, one after the other.
final class PayloadSelection {
  private let image: HeapImage
  /// The image has the bits of references that are no part of their addresses.
  private let hasReferenceTags: Bool
  /// By selector of the part.
  private var active: [UInt64] = []
  private var named: [UInt64] = []

  /// The image has the bytes that are an enumeration's case, where `Part.caseBytes` says so.
  private let hasCaseBytes: Bool

  /// Bits of a word that are no part of an address; those below the alignment of objects always are in the image.
  private static let topBits: UInt64 = 0xFF << 56
  private static let addressBits: UInt64 = ~topBits & ~7

  init(_ image: HeapImage, of snapshot: TraceSnapshot) {
    self.image = image
    hasReferenceTags = snapshot.hasReferenceTags
    hasCaseBytes = snapshot.hasCaseBytes
  }

  /// Looks at the value at `base`. Linear in its enumerations, their bits and references.
  ///
  /// - Parameters:
  ///   - isMetadata: whether a type's metadata is at an address.
  ///   - fit: whether a reference can lead to what is at an address.
  func select(
    _ part: NodeLayout.Part, at base: UInt64, isMetadata: (UInt64) -> Bool, fit: (NodeLayout.Reference, UInt64) -> ReferenceFit
  ) {
    active.removeAll(keepingCapacity: true)
    named.removeAll(keepingCapacity: true)
    for index in part.selectors.indices {
      let (active, named) = look(at: part.selectors[index], index, in: part, base, isMetadata, fit)
      self.active.append(active)
      self.named.append(named)
    }
  }

  /// Whether all of the cases may be active.
  func isActive(_ conditions: [PayloadSelector.Condition]) -> Bool {
    conditions.allSatisfy { active[$0.selector] & $0.cases != 0 }
  }

  /// Whether exactly these cases are active.
  func isNamed(_ conditions: [PayloadSelector.Condition]) -> Bool {
    conditions.allSatisfy { named[$0.selector] == $0.cases && $0.cases != PayloadSelector.shared }
  }

  private func look(
    at selector: PayloadSelector, _ index: Int, in part: NodeLayout.Part, _ base: UInt64, _ isMetadata: (UInt64) -> Bool,
    _ fit: (NodeLayout.Reference, UInt64) -> ReferenceFit
  ) -> (active: UInt64, named: UInt64) {
    guard isActive(selector.enclosing) else { return (0, 0) }
    var possible = selector.cases
    var evident: UInt64 = 0
    for word in selector.required {
      if let address = address(at: base &+ word.offset), !word.isMetadata || isMetadata(address) {
        evident |= word.cases
      } else {
        possible &= ~word.cases
      }
    }
    evident &= possible
    let told = told(by: selector.discriminator, selector.cases, base, hasCaseBytes ? part.caseBytes : 0..<0)
    if let told, told & ~possible == 0 {
      // A payload in spite of what is told: only values that are copied in place leave one behind.
      let isContradicted = told == 0 && evident != 0 && !selector.keepsOldWords && !selector.discriminator.isCertain
      if !isContradicted { return (told, told) }
    }
    // Nothing but the payloads themselves can tell. They do if no other case may have left them there.
    guard told == nil, possible.nonzeroBitCount > 1 || !selector.keepsOldWords else { return (possible, 0) }
    if possible.nonzeroBitCount <= 1 { return (possible, possible) }
    if selector.keepsOldWords { return (possible, 0) }
    var fitting = possible
    for reference in part.references where reference.isRequired {
      guard let last = reference.conditions.last, last.selector == index, last.cases & fitting != 0, let word = address(at: base &+ reference.offset) else { continue }
      if fit(reference, word) == .never { fitting &= ~last.cases }
    }
    return (possible, fitting.nonzeroBitCount == 1 ? fitting : 0)
  }

  /// The address in a word; nil if it has none.
  private func address(at place: UInt64) -> UInt64? {
    guard let word = image.word(at: place), word & Self.addressBits != 0 else { return nil }
    return word & Self.addressBits
  }

  /// The bits of the active case by its discriminator, 0 if none has a payload with parts; nil if the image does not have it.
  private func told(by discriminator: PayloadSelector.Discriminator, _ cases: UInt64, _ base: UInt64, _ caseBytes: Range<UInt64>) -> UInt64? {
    switch discriminator {
    case .unknown: return nil
    case .address(let offset, let isCertain): return address(at: base &+ offset) != nil ? cases : isCertain ? 0 : nil
    case .zeros(let words):
      var isKnown = true
      for (offset, mask) in words {
        guard let word = bits(offset, mask, base, caseBytes) else {
          isKnown = false
          continue
        }
        if word & mask != 0 { return 0 }
      }
      return isKnown ? cases : nil
    case .tag(let words, let table):
      var number: UInt64 = 0
      for word in words {
        let mask = word.bits.reduce(UInt64(0)) { $0 | 1 << $1.from }
        guard let value = bits(word.offset, mask, base, caseBytes) else { return nil }
        for bit in word.bits { number |= (value >> bit.from & 1) << bit.to }
      }
      return number < table.count ? table[Int(number)] : nil
    }
  }

  /// A word, if the image has those bits of it. A word that is not in the image may be 0, or data of the program.
  private func bits(_ offset: UInt64, _ mask: UInt64, _ base: UInt64, _ caseBytes: Range<UInt64>) -> UInt64? {
    if mask & Self.topBits != 0, !hasReferenceTags { return nil }
    return image.word(at: base &+ offset) ?? (mask <= 0xFF && caseBytes.contains(offset) ? 0 : nil)
  }
}

extension PayloadSelector.Discriminator {
  /// It says with certainty that there is no payload.
  fileprivate var isCertain: Bool {
    if case .address(_, true) = self { true } else { false }
  }
}
