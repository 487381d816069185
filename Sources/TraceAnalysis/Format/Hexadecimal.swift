// Addresses as text.

enum Hexadecimal {
  /// `0x` and lower-case digits, without leading zeros.
  static func text(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}
