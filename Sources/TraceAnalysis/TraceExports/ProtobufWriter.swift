// The part of the protocol buffers wire format that is needed to write messages.

/// The bytes of one message. Leaves out a field whose value is the default (0 or an empty string), as readers of the
/// format expect. Elements of repeated fields are always written.
///
/// Source: the encoding of protocol buffers, version 3. A field is a varint of its number and wire type, followed by
/// its value.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  private enum WireType: UInt64 { case varint = 0, lengthDelimited = 2 }

  mutating func field(_ number: Int, _ value: UInt64) {
    guard value != 0 else { return }
    key(number, .varint)
    varint(value)
  }

  /// Writes an `int64` field: a varint of the 64-bit two's complement.
  mutating func field(_ number: Int, _ value: Int64) { field(number, UInt64(bitPattern: value)) }

  mutating func field(_ number: Int, _ value: Bool) { field(number, value ? 1 as UInt64 : 0) }

  /// Writes an element of a repeated field.
  mutating func element(_ number: Int, _ text: String) {
    key(number, .lengthDelimited)
    varint(UInt64(text.utf8.count))
    bytes += text.utf8
  }

  /// Writes a message field, or an element of a repeated message field.
  mutating func message(_ number: Int, _ build: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    build(&inner)
    message(number, inner)
  }

  /// Writes a complete message.
  mutating func message(_ number: Int, _ inner: ProtobufWriter) {
    key(number, .lengthDelimited)
    varint(UInt64(inner.bytes.count))
    bytes += inner.bytes
  }

  /// Writes a repeated field of numbers in the packed form.
  mutating func packed(_ number: Int, _ values: some Sequence<UInt64>) {
    var inner = ProtobufWriter()
    for value in values { inner.varint(value) }
    guard !inner.bytes.isEmpty else { return }
    key(number, .lengthDelimited)
    varint(UInt64(inner.bytes.count))
    bytes += inner.bytes
  }

  private mutating func key(_ number: Int, _ type: WireType) { varint(UInt64(number) << 3 | type.rawValue) }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
