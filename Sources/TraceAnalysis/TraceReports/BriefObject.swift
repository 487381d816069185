// JSON objects of limited size.

import TextWriting

/// Builds a JSON object whose compact text has at most a given number of bytes. Required fields come first: their texts
/// are cut, so that they always fit. Optional fields and list elements are added as long as there is room.
struct BriefObject {
  /// Maximum number of bytes.
  let limit: Int
  private(set) var fields: [(String, JSONValue)] = []
  /// Bytes of the compact text so far, without the note about omitted parts.
  private var used = 2
  private var omitted: [(String, JSONValue)] = []

  /// Bytes that the note about omitted parts may need.
  private static let reserve = 200
  /// The usual limit of a text, in bytes.
  private static let textLimit = 120

  init(limit: Int) { self.limit = limit }

  /// Returns a text without characters that are not shown, and shortens it to a number of bytes in JSON.
  static func cut(_ text: String, to limit: Int = textLimit) -> String {
    let escaped = PlainText.escaped(text)
    func bytes(_ scalar: Unicode.Scalar) -> Int { scalar == "\"" || scalar == "\\" ? 2 : scalar.utf8.count }
    if escaped.unicodeScalars.reduce(0, { $0 + bytes($1) }) <= limit { return escaped }
    var result = String.UnicodeScalarView()
    var used = "…".utf8.count
    for scalar in escaped.unicodeScalars {
      used += bytes(scalar)
      if used > limit { break }
      result.append(scalar)
    }
    return String(result) + "…"
  }

  /// Returns whether there is room for this many bytes.
  private func hasRoom(_ bytes: Int) -> Bool { used + bytes + Self.reserve <= limit }

  private static func bytes(_ name: String, _ value: JSONValue) -> Int {
    name.utf8.count + value.compactText.utf8.count + 4
  }

  /// Adds a field that must be present. Its text must be cut.
  mutating func require(_ name: String, _ value: JSONValue) {
    used += Self.bytes(name, value)
    fields.append((name, value))
  }

  /// Adds a field if there is room for it. Otherwise the note names it.
  mutating func add(_ name: String, _ value: JSONValue) {
    let bytes = Self.bytes(name, value)
    guard hasRoom(bytes) else {
      omitted.append((name, .bool(true)))
      return
    }
    used += bytes
    fields.append((name, value))
  }

  /// Adds a list with as many elements as there is room for. Returns their number. The note has the number of the
  /// others.
  @discardableResult
  mutating func addList(_ name: String, _ values: [JSONValue], notesRest: Bool = true) -> Int {
    var shown: [JSONValue] = []
    var bytes = name.utf8.count + 6
    for value in values {
      let more = value.compactText.utf8.count + 1
      guard hasRoom(bytes + more) else { break }
      bytes += more
      shown.append(value)
    }
    if notesRest, shown.count < values.count { omitted.append((name, .integer(Int64(values.count - shown.count)))) }
    guard !shown.isEmpty || values.isEmpty else { return 0 }
    used += bytes
    fields.append((name, .array(shown)))
    return shown.count
  }

  /// The object. `omitted` names the parts that did not fit; a larger limit shows them.
  var value: JSONValue { .object(fields + (omitted.isEmpty ? [] : [("omitted", .object(omitted))])) }
}
