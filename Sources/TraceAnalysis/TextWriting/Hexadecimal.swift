// Addresses and bytes as text.

package enum Hexadecimal {
  /// Returns `0x` and lower-case digits, without leading zeros.
  package static func text(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }

  /// Returns lower-case hexadecimal digits, two for each byte.
  package static func digits(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
