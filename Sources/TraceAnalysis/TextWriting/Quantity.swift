// Amounts in options and rules.

/// A number above zero and its unit, parsed from text such as `3`, `64KiB`, `1 MB` or `10%`.
package struct Quantity {
  package let value: Double
  /// The unit in lower case; empty if there is none.
  package let unit: String
  private let digits: Substring

  /// Nil if the text has another form.
  package init?(parsing text: String) {
    digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
    // `Double` would also accept 'nan', '0x1p3' and more.
    guard digits.first != ".", digits.last != ".", let value = Double(digits), value.isFinite, value > 0 else {
      return nil
    }
    self.value = value
  }

  /// The value as a whole number; nil if there is a unit or a fraction.
  package var count: UInt64? { unit.isEmpty ? UInt64(digits) : nil }

  /// The value as a size of at least one byte; nil if the unit is not a unit of size.
  package var bytes: UInt64? {
    guard let scale = Self.sizes[unit], value * scale >= 1, value * scale < 9e18 else { return nil }
    return UInt64((value * scale).rounded())
  }

  private static let sizes: [String: Double] = [
    "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824,
  ]
}
