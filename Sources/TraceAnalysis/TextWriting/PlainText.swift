// Text from a trace in a form that is safe to print, and numbers as text.

package enum PlainText {
  /// Returns a text with control characters as `\u{…}`, so that it contains no escape sequences for a terminal.
  package static func escaped(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ isShown($0) }) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isShown(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return result
  }

  /// Returns whether a scalar is shown unescaped.
  package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}

package enum Decimal {
  /// Returns a number with `places` digits after the point, rounded half away from zero; `?` if the value is not
  /// finite, or too large.
  package static func fixed(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "?" }
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = abs(value)
    var whole = Int64(scaled)
    var fraction = Int64(((scaled - Double(whole)) * Double(scale)).rounded())
    if fraction >= scale {
      whole += 1
      fraction -= scale
    }
    let sign = value < 0 && (whole != 0 || fraction != 0) ? "-" : ""
    if places == 0 { return "\(sign)\(whole)" }
    let digits = String(fraction)
    return "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
  }

  /// Returns a number with commas between groups of three digits.
  package static func grouped(_ value: UInt64) -> String {
    let digits = Array(String(value))
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// Returns a duration in a suitable unit, with about two digits.
  package static func duration(_ seconds: Double) -> String {
    if seconds >= 7200 { return "\(fixed(seconds / 3600, places: 1)) h" }
    if seconds >= 120 { return "\(fixed(seconds / 60, places: 1)) min" }
    if seconds >= 1 { return "\(fixed(seconds, places: 1)) s" }
    if seconds >= 0.001 { return "\(fixed(seconds * 1000, places: seconds < 0.01 ? 1 : 0)) ms" }
    return "\(fixed(seconds * 1e6, places: 0)) µs"
  }

  /// Returns a range of durations, or a single duration if both have the same text.
  package static func span(_ first: Double, _ second: Double) -> String {
    let (a, b) = (duration(first), duration(second))
    return a == b ? a : "\(a) to \(b)"
  }

  /// Returns a number with a noun, such as "1 block" or "2 blocks".
  package static func counted(_ value: UInt64, _ noun: String) -> String {
    "\(grouped(value)) \(noun)\(value == 1 ? "" : "s")"
  }

  /// Returns a number of bytes in B, KiB, MiB and so on up to EiB, with three significant digits.
  package static func bytes(_ value: UInt64) -> String {
    if value < 1024 { return "\(value) B" }
    var scaled = Double(value)
    for unit in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
      scaled /= 1024
      if scaled < 1023.5 || unit == "EiB" {
        return "\(fixed(scaled, places: scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)) \(unit)"
      }
    }
    return "\(value) B"
  }
}
