// Finds the active payloads of a value's enumerations.

import CTraceFormat
import TraceReading

/// The active cases of a value's enumerations, found by the words of the heap image that identify them.
///
/// If these words are missing, all possible cases count as active, since a missed reference makes a false leak. But no
/// case counts as named, since a wrong name misleads. One selection is reused for all values of a heap.
final class PayloadSelection {
  private let image: HeapImage
  /// True if the heap image has the bits of references that are not part of an address.
  private let hasReferenceTags: Bool
  /// True if the heap image has the bytes of enumeration cases at the offsets in `Part.caseBytes`.
  private let hasCaseBytes: Bool
  /// True if the heap image also has these bytes for values of dictionaries.
  private let hasValueCaseBytes: Bool
  /// The cases of the last part read that may be active. Each element belongs to one selector and has one bit per case.
  /// This is a pointer because an array's retains and releases would take most of the time.
  private let active = UnsafeMutablePointer<UInt64>.allocate(capacity: PayloadSelector.limit)
  private let named = UnsafeMutablePointer<UInt64>.allocate(capacity: PayloadSelector.limit)

  /// The upper bits of a word that are not part of an address. The heap image always has the bits below the alignment
  /// of objects.
  private static let topBits = ~LT_WORD_ADDRESS_MASK
  private static let addressBits: UInt64 = ~topBits & ~7
  private static let lowBits: UInt64 = 7

  init(_ image: HeapImage, of snapshot: TraceSnapshot) {
    self.image = image
    hasReferenceTags = snapshot.hasReferenceTags
    hasCaseBytes = snapshot.hasCaseBytes
    hasValueCaseBytes = snapshot.hasValueCaseBytes
    active.initialize(repeating: 0, count: PayloadSelector.limit)
    named.initialize(repeating: 0, count: PayloadSelector.limit)
  }

  deinit {
    active.deallocate()
    named.deallocate()
  }

  /// Finds the active cases of the value at `base`. Linear in the value's enumerations, their bits and references.
  ///
  /// - Parameters:
  ///   - isMetadata: returns whether a type's metadata is at an address.
  ///   - fits: returns whether the reference at an index of the part can lead to the block at an address.
  func select(_ part: NodeLayout.Part, at base: UInt64, isMetadata: (UInt64) -> Bool, fits: (Int, UInt64) -> Bool) {
    let hasCaseBytes = part.isOfDictionaryValues ? hasValueCaseBytes : hasCaseBytes
    let caseBytes = hasCaseBytes ? part.caseBytes : 0..<0
    for index in 0..<min(part.selectors.count, PayloadSelector.limit) {
      let selector = part.selectors[index]
      guard isActive(selector.enclosing) else {
        active[index] = 0
        named[index] = 0
        continue
      }
      var possible = selector.cases
      var evident: UInt64 = 0
      for word in selector.required {
        if let address = address(at: base &+ word.offset), !word.isMetadata || isMetadata(address) {
          evident |= word.cases
        } else {
          possible &= ~word.cases
        }
      }
      active[index] = possible
      named[index] = 0
      if let number = caseNumber(by: selector, base, caseBytes) {
        guard number & ~possible == 0 else { continue }
        // Skip a payload that contradicts the discriminator. An earlier case's payload can remain only in an
        // enumeration that keeps old words.
        if number == 0, evident & possible != 0, !selector.keepsOldWords, !selector.isCertain { continue }
        active[index] = number
        named[index] = number
      } else if !selector.keepsOldWords {
        // Only the payloads can identify the case. They can, since this enumeration does not keep payloads of earlier
        // cases.
        named[index] = possible.nonzeroBitCount <= 1 ? possible : fitting(possible, index, part, base, fits)
      }
    }
  }

  /// Returns whether the cases of all conditions may be active.
  func isActive(_ conditions: [PayloadSelector.Condition]) -> Bool {
    for condition in conditions where active[condition.selector] & condition.cases == 0 { return false }
    return true
  }

  /// Returns whether exactly the cases of the conditions are active.
  func isNamed(_ conditions: [PayloadSelector.Condition]) -> Bool {
    for condition in conditions
    where named[condition.selector] != condition.cases || condition.cases == PayloadSelector.shared { return false }
    return true
  }

  /// Returns the only case whose references fit their targets; 0 if there are several.
  private func fitting(
    _ possible: UInt64, _ selector: Int, _ part: NodeLayout.Part, _ base: UInt64, _ fits: (Int, UInt64) -> Bool
  ) -> UInt64 {
    var fitting = possible
    for index in part.references.indices where part.references[index].isRequired {
      guard let last = part.conditions[index].last, last.selector == selector, last.cases & fitting != 0,
        let word = address(at: base &+ part.references[index].offset)
      else { continue }
      if !fits(index, word) { fitting &= ~last.cases }
    }
    return fitting.nonzeroBitCount == 1 ? fitting : 0
  }

  /// Returns the address in the word at `place`; nil if the word is missing or has none.
  @inline(__always)
  private func address(at place: UInt64) -> UInt64? {
    guard let word = image.word(at: place), word & Self.addressBits != 0 else { return nil }
    return word & Self.addressBits
  }

  /// Returns the bit of the active case according to the enumeration's discriminator. 0 if that case has no payload
  /// with parts, nil if the heap image lacks the discriminator.
  private func caseNumber(by selector: PayloadSelector, _ base: UInt64, _ caseBytes: Range<UInt64>) -> UInt64? {
    switch selector.discriminator {
    case .unknown: return nil
    case .address:
      if let word = selector.words.first, address(at: base &+ word.offset) != nil { return selector.cases }
      return selector.isCertain ? 0 : nil
    case .number:
      guard let word = selector.words.first, hasReferenceTags else { return nil }
      // The recorder keeps the three lowest bits of a word that is not an address. Cases without a payload are numbered
      // from 1; 0 means that the payload is nil.
      return address(at: base &+ word.offset) == nil
        && image.word(at: base &+ word.offset).map { $0 & Self.lowBits != 0 } ?? false ? 0 : selector.cases
    case .zeros:
      var isKnown = true
      for word in selector.words {
        guard let value = value(of: word, base, caseBytes) else {
          isKnown = false
          continue
        }
        if value & word.mask != 0 { return 0 }
      }
      return isKnown ? selector.cases : nil
    case .tag:
      var number = 0
      var place = 0
      for word in selector.words {
        guard let value = value(of: word, base, caseBytes) else { return nil }
        var rest = word.mask
        while rest != 0 {
          number |= Int(value >> UInt64(rest.trailingZeroBitCount) & 1) << place
          place += 1
          rest &= rest - 1
        }
      }
      // A byte that is not the number of a case belongs to an address among bytes. The heap image stores such an
      // address as the word where the address begins.
      if selector.hasByteTag, PayloadSelector.neverCases.contains(number) { return nil }
      return number < selector.table.count ? selector.table[number] : nil
    }
  }

  /// Returns a word if the heap image has all its bits in the mask. A word that the heap image lacks may be 0, or plain
  /// data of the program.
  @inline(__always)
  private func value(of word: PayloadSelector.Word, _ base: UInt64, _ caseBytes: Range<UInt64>) -> UInt64? {
    if word.mask & Self.topBits != 0, !hasReferenceTags { return nil }
    if let value = image.word(at: base &+ word.offset) {
      // If a word was neither an address nor the flags of one, the recorder kept only its lowest byte.
      let isByteAlone = value <= 0xFF && word.mask > 0xFF && !(word.isReference && hasReferenceTags)
      return isByteAlone ? nil : value
    }
    // The recorder keeps a byte only if its value is small or close to 255. So a missing byte means case 0 only if the
    // lowest bits of the byte are the case. If the upper bits are the case, the byte may be missing because the payload
    // in the lower bits is not 0.
    let isCaseAlone = word.mask <= 0xFF && word.mask & (word.mask &+ 1) == 0
    return word.isReference && hasReferenceTags || isCaseAlone && caseBytes.contains(word.offset) ? 0 : nil
  }
}
