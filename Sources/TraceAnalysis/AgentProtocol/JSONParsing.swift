// Reads JSON from clients.

import FoundationEssentials
import TextWriting

/// Parses JSON text into values. Nothing in the text is trusted. The decoder limits the depth of nesting.
package enum JSONParsing {
  /// Returns the value of a text; nil if it is no valid JSON. Sorts the fields of objects by name.
  package static func value(_ bytes: [UInt8]) -> JSONValue? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    return try? JSONDecoder().decode(Tree.self, from: Data(bytes)).value
  }

  private struct Tree: Decodable {
    var value: JSONValue

    private struct Name: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      if let fields = try? decoder.container(keyedBy: Name.self) {
        value = .object(
          try fields.allKeys.map { ($0.stringValue, try fields.decode(Tree.self, forKey: $0).value) }.sorted {
            $0.0 < $1.0
          })
        return
      }
      if var elements = try? decoder.unkeyedContainer() {
        var values: [JSONValue] = []
        while !elements.isAtEnd { values.append(try elements.decode(Tree.self).value) }
        value = .array(values)
        return
      }
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        value = .null
      } else if let text = try? single.decode(String.self) {
        value = .string(text)
      } else if let flag = try? single.decode(Bool.self) {
        value = .bool(flag)
      } else if let number = try? single.decode(Int64.self) {
        value = .integer(number)
      } else {
        value = .decimal(try single.decode(Double.self))
      }
    }
  }
}

extension JSONValue {
  /// Returns a field of an object; nil if this is no object, or if it has no such field.
  package subscript(name: String) -> JSONValue? {
    if case .object(let fields) = self { fields.first { $0.0 == name }?.1 } else { nil }
  }

  package var asString: String? { if case .string(let text) = self { text } else { nil } }
}
