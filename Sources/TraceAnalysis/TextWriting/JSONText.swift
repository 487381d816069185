// JSON text that keeps the order of fields.

/// A JSON value. Objects keep the order of their fields, so that equal reports have equal texts.
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

  /// The value as text with an indent of two spaces, without a newline at the end. Linear.
  package var text: String {
    var text = ""
    write(to: &text, indent: 0)
    return text
  }

  /// The value as text on one line, for large documents that only programs read. Linear.
  package var compactText: String {
    var text = ""
    write(to: &text, indent: nil)
    return text
  }

  /// `indent`: the columns of the indent; nil to write everything on one line.
  private func write(to text: inout String, indent: Int?) {
    let deeper = indent.map { $0 + 2 }
    func breakLine(_ indent: Int?) { if let indent { text += "\n" + String(repeating: " ", count: indent) } }
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
        if index > 0 { text += "," }
        breakLine(deeper)
        value.write(to: &text, indent: deeper)
      }
      breakLine(indent)
      text += "]"
    case .object(let fields):
      if fields.isEmpty {
        text += "{}"
        return
      }
      text += "{"
      for (index, (name, value)) in fields.enumerated() {
        if index > 0 { text += "," }
        breakLine(deeper)
        Self.quote(name, to: &text)
        text += indent == nil ? ":" : ": "
        value.write(to: &text, indent: deeper)
      }
      breakLine(indent)
      text += "}"
    }
  }

  private static func quote(_ value: String, to text: inout String) {
    text += "\""
    // Few texts have a character to escape. Copying a whole text is fast.
    if value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
      escape(value, to: &text)
    } else {
      text += value
    }
    text += "\""
  }

  private static func escape(_ value: String, to text: inout String) {
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
  }
}
