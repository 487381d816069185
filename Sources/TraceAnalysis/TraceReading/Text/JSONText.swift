// JSON, written in order as it comes.

/// A JSON value. Objects keep the order of their fields, so that equal reports are equal texts.
package indirect enum JSONValue {
  case null
  case bool(Bool)
  case number(UInt64)
  case integer(Int64)
  case decimal(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  package static func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
  package static func optional(_ value: UInt64?) -> JSONValue { value.map { .number($0) } ?? .null }
  package static func optional(_ value: Double?) -> JSONValue { value.map { .decimal($0) } ?? .null }
  package static func address(_ value: UInt64) -> JSONValue { .string(Hexadecimal.text(value)) }

  /// Indented by two spaces, without a newline at the end. Linear.
  package var text: String {
    var text = ""
    write(to: &text, indent: 0)
    return text
  }

  private func write(to text: inout String, indent: Int) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let value): text += String(value)
    case .integer(let value): text += String(value)
    case .decimal(let value): text += value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.quote(value, to: &text)
    case .array(let values):
      if values.isEmpty {
        text += "[]"
        return
      }
      text += "["
      for (index, value) in values.enumerated() {
        text += index == 0 ? "\n" : ",\n"
        text += String(repeating: " ", count: indent + 2)
        value.write(to: &text, indent: indent + 2)
      }
      text += "\n" + String(repeating: " ", count: indent) + "]"
    case .object(let fields):
      if fields.isEmpty {
        text += "{}"
        return
      }
      text += "{"
      for (index, (name, value)) in fields.enumerated() {
        text += index == 0 ? "\n" : ",\n"
        text += String(repeating: " ", count: indent + 2)
        Self.quote(name, to: &text)
        text += ": "
        value.write(to: &text, indent: indent + 2)
      }
      text += "\n" + String(repeating: " ", count: indent) + "}"
    }
  }

  private static func quote(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
