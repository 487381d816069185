/// A message decoded by a separate reader of protocol buffers, which exists only for tests.
struct ProtobufMessage {
  enum Value: Equatable {
    case number(UInt64)
    case bytes([UInt8])
  }

  struct Malformed: Error {}

  /// The fields with their numbers, in order.
  private(set) var fields: [(number: Int, value: Value)] = []

  init(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let key = try Self.varint(&rest)
      switch key & 7 {
      case 0: fields.append((Int(key >> 3), .number(try Self.varint(&rest))))
      case 2:
        let length = Int(try Self.varint(&rest))
        guard length <= rest.count else { throw Malformed() }
        fields.append((Int(key >> 3), .bytes(Array(rest.prefix(length)))))
        rest = rest.dropFirst(length)
      default: throw Malformed()
      }
    }
  }

  static func varint(_ bytes: inout ArraySlice<UInt8>) throws -> UInt64 {
    var result: UInt64 = 0
    for shift in stride(from: 0 as UInt64, to: 70, by: 7) {
      guard let byte = bytes.popFirst() else { throw Malformed() }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    throw Malformed()
  }

  /// Returns the number in a field; 0 if the field is absent.
  func number(_ field: Int) -> UInt64 {
    for case (field, .number(let value)) in fields { return value }
    return 0
  }

  func all(_ field: Int) -> [[UInt8]] {
    fields.compactMap {
      if case (field, .bytes(let bytes)) = $0 { return bytes }
      return nil
    }
  }

  func messages(_ field: Int) throws -> [ProtobufMessage] { try all(field).map { try ProtobufMessage($0) } }

  func strings(_ field: Int) -> [String] { all(field).map { String(decoding: $0, as: UTF8.self) } }

  /// Returns the numbers of a packed field.
  func numbers(_ field: Int) throws -> [UInt64] {
    var result: [UInt64] = []
    for bytes in all(field) {
      var rest = bytes[...]
      while !rest.isEmpty { result.append(try Self.varint(&rest)) }
    }
    return result
  }
}
