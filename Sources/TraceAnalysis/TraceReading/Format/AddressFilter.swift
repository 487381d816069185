// A set of addresses with a fast, approximate test for membership.

/// A set of addresses with possible false positives: `mayContain` may be true for an address that is not in the set,
/// but is never false for an address that is.
///
/// There is one bit for each hash value. The set does not change after `init`, so it may be used on any thread. Two
/// sets are equal if they are the same object.
package final class AddressFilter: Hashable, @unchecked Sendable {
  private let bits: UnsafeMutablePointer<UInt64>
  private let shift: UInt64

  /// Makes an empty set with at least 16 bits for each of `count` addresses, up to 2^24 addresses.
  private init(count: Int) {
    let wanted = UInt64(max(64, min(count, 1 << 24))) &* 16
    let exponent = 64 - (wanted - 1).leadingZeroBitCount
    shift = UInt64(64 - exponent)
    let wordCount = 1 << (exponent - 6)
    bits = .allocate(capacity: wordCount)
    bits.initialize(repeating: 0, count: wordCount)
  }

  /// Makes a set of `addresses`. Linear in their number.
  package convenience init(_ addresses: some Collection<UInt64>) {
    self.init(count: addresses.count)
    for address in addresses { insert(address) }
  }

  deinit { bits.deallocate() }

  private func insert(_ address: UInt64) {
    let bit = position(address)
    bits[Int(truncatingIfNeeded: bit >> 6)] |= 1 &<< (bit & 63)
  }

  @inline(__always)
  func mayContain(_ address: UInt64) -> Bool {
    let bit = position(address)
    return bits[Int(truncatingIfNeeded: bit >> 6)] &>> (bit & 63) & 1 != 0
  }

  /// Multiplication with the golden ratio. Source: Knuth, The Art of Computer Programming, section 6.4.
  @inline(__always)
  private func position(_ address: UInt64) -> UInt64 {
    ((address >> 3 ^ address >> 21) &* 0x9E37_79B9_7F4A_7C15) &>> shift
  }

  package static func == (a: AddressFilter, b: AddressFilter) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
