// A set of addresses that is quick to ask.

/// A set of addresses. It may say yes to an address that is not in it, and never says no to one that is.
///
/// Each hash of an address has a bit. For any thread once it is filled. Two sets are equal if they are one object.
package final class AddressFilter: Hashable, @unchecked Sendable {
  private let bits: UnsafeMutablePointer<UInt64>
  private let shift: UInt64

  /// Has sixteen bits and more for each of `count` addresses, up to 2^24.
  private init(count: Int) {
    let wanted = UInt64(max(64, min(count, 1 << 24))) &* 16
    let exponent = 64 - (wanted - 1).leadingZeroBitCount
    shift = UInt64(64 - exponent)
    let wordCount = 1 << (exponent - 6)
    bits = .allocate(capacity: wordCount)
    bits.initialize(repeating: 0, count: wordCount)
  }

  /// Linear in the addresses.
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
  package func mayContain(_ address: UInt64) -> Bool {
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
