import Testing

@testable import TraceExports

/// The examples of the format's description, and edge cases.
struct ProtobufWriterTests {
  private func bytes(_ write: (inout ProtobufWriter) -> Void) -> [UInt8] {
    var writer = ProtobufWriter()
    write(&writer)
    return writer.bytes
  }

  @Test func numbersAreVarints() {
    #expect(bytes { $0.field(1, 150 as UInt64) } == [0x08, 0x96, 0x01])
    #expect(bytes { $0.field(1, UInt64.max) } == [0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01])
    #expect(bytes { $0.field(16, -1 as Int64) } == [0x80, 0x01] + [UInt8](repeating: 0xFF, count: 9) + [0x01])
  }

  @Test func defaultsAreLeftOut() {
    #expect(bytes { $0.field(1, 0 as UInt64) }.isEmpty)
    #expect(bytes { $0.field(2, false) }.isEmpty)
    #expect(bytes { $0.packed(3, []) }.isEmpty)
  }

  @Test func repeatedElementsKeepDefaultValues() {
    #expect(bytes { $0.element(2, "") } == [0x12, 0x00])
    #expect(bytes { $0.message(3) { _ in } } == [0x1A, 0x00])
  }

  @Test func textAndMessagesHaveTheirLength() {
    #expect(bytes { $0.element(2, "testing") } == [0x12, 0x07] + Array("testing".utf8))
    #expect(bytes { $0.message(3) { $0.field(1, 150 as UInt64) } } == [0x1A, 0x03, 0x08, 0x96, 0x01])
    #expect(bytes { $0.packed(4, [3, 270, 86_942]) } == [0x22, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05])
  }
}
