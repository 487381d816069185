// Parts of files in a trace: a reader gets the written bytes, and the trace stays intact.

import CTraceFormat
import Foundation
import Testing

@testable import TraceReading
@testable import TraceTestSupport

@Suite struct StoredFileTests {
  /// A closed trace in a temporary file, which is removed with this object.
  private final class TraceFile {
    let path: String

    init(isClosed: Bool = true) throws {
      path = FileManager.default.temporaryDirectory.path + "/leaktrace-names-\(UUID().uuidString).trace"
      var builder = TraceBuilder()
      builder.event(.malloc, 0x1000, size: 64, stack: builder.stack([0x400000]), time: 8)
      if isClosed { builder.closing = TraceClosing(reason: .exit, waitStatus: 0, time: 100, eventCount: 1) }
      try Data(builder.bytes()).write(to: URL(fileURLWithPath: path))
    }

    deinit { unlink(path) }

    var size: UInt64 { get throws { UInt64(try Data(contentsOf: URL(fileURLWithPath: path)).count) } }
    func reader() throws -> TraceReader { try TraceReader(path: path) }
  }

  /// Stores one file in the trace, and returns the file's bytes from a reader.
  private func stored(_ bytes: [UInt8], _ parts: [Range<Int>], in trace: TraceFile) throws -> [UInt8] {
    try bytes.withUnsafeBytes { bytes in
      _ = try NamesWriter.write(
        [NamedFile(path: "/app/server", buildID: [1, 2, 3], bytes: bytes, parts: parts)], isComplete: true,
        toolVersion: "1.2.3", toTraceAt: trace.path)
    }
    let files = try #require(trace.reader().storedFiles)
    let file = try #require(files.files.first)
    #expect(files.files.count == 1)
    #expect((file.path, file.size) == ("/app/server", UInt64(bytes.count)))
    #expect(file.buildID == [1, 2, 3])
    #expect(files.isComplete)
    #expect(files.toolVersion == "1.2.3")
    var memory = [UInt8](repeating: 0, count: bytes.count)
    let isWhole = memory.withUnsafeMutableBytes { files.copy(file, to: $0) }
    #expect(isWhole)
    return memory
  }

  @Test("Stored parts are read back, and the rest of the file is zero")
  func parts() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 | 1) }
    let parts = [0..<10, 4096..<8192, 99_999..<100_000]
    let memory = try stored(bytes, parts, in: TraceFile())
    for index in bytes.indices {
      #expect(memory[index] == (parts.contains { $0.contains(index) } ? bytes[index] : 0))
      if memory[index] != 0, !parts.contains(where: { $0.contains(index) }) { break }
    }
  }

  @Test("A file larger than a chunk is stored in several chunks")
  func largeFile() throws {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<(9 << 20)).map { _ in UInt8.random(in: 1...255, using: &generator) }
    let trace = try TraceFile()
    #expect(try stored(bytes, [1..<bytes.count], in: trace) == [0] + bytes[1...])
    #expect(try trace.reader().chunks.filter { $0.kind == .fileParts }.count == 3)
  }

  @Test("Storing names again adds nothing, and the trace keeps its events and its end")
  func replaced() throws {
    let trace = try TraceFile()
    let bytes = [UInt8](repeating: 7, count: 10_000)
    _ = try stored(bytes, [0..<10_000], in: trace)
    let size = try trace.size
    _ = try stored(bytes, [0..<10_000], in: trace)
    #expect(try trace.size == size)
    let reader = try trace.reader()
    #expect(reader.closing?.eventCount == 1)
    #expect(reader.chunks.last?.kind == .closing)
    #expect(reader.diagnostics.isEmpty)
    #expect(AllocationAnalysis(reader, snapshot: nil).eventCount == 1)
  }

  @Test("A trace without an end accepts no names")
  func notClosed() throws {
    let trace = try TraceFile(isClosed: false)
    let size = try trace.size
    #expect(throws: TraceFormatError.notClosed(path: trace.path)) {
      try NamesWriter.write([], isComplete: true, toolVersion: "", toTraceAt: trace.path)
    }
    #expect(try trace.size == size)
    #expect(try trace.reader().storedFiles == nil)
  }

  @Test("A trace cut in its stored names keeps its events, and all names or none")
  func cuts() throws {
    let trace = try TraceFile()
    let recorded = try trace.size
    _ = try stored([UInt8](repeating: 9, count: 5_000), [0..<5_000], in: trace)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: trace.path)))
    for end in stride(from: Int(recorded), to: bytes.count, by: 8) {
      let reader = try TraceReader(bytes: Array(bytes[..<end]))
      #expect(reader.closing != nil)
      #expect(AllocationAnalysis(reader, snapshot: nil).eventCount == 1)
      guard let files = reader.storedFiles else { continue }
      var memory = [UInt8](repeating: 0, count: 5_000)
      #expect(memory.withUnsafeMutableBytes { files.copy(files.files[0], to: $0) })
    }
  }

  @Test("Ranges beyond the file are refused")
  func hostileRanges() throws {
    for (gap, size) in [(UInt64(0), UInt64(5_001)), (5_000, 1), (UInt64.max, 1), (1, UInt64.max)] {
      var parts = ByteBuilder()
      for number in [1, gap, size] { parts.varint(number) }
      parts.bytes += [UInt8](repeating: 1, count: 16)
      var list = ByteBuilder()
      list.varint(UInt64(LT_NAMES_VERSION))
      list.varint(0)
      list.string("1")
      list.varint(1)
      list.string("/app/server")
      list.blob([])
      for number in [UInt64(5_000), 0, 1] { list.varint(number) }
      var writer = TraceWriter(header: TraceBuilder().header)
      try writer.append(kind: .fileParts, thread: 0, payload: parts.bytes)
      try writer.append(kind: .names, thread: 0, payload: list.bytes)
      let files = try #require(TraceReader(bytes: writer.bytes).storedFiles)
      var memory = [UInt8](repeating: 0, count: 5_000)
      let isWhole = memory.withUnsafeMutableBytes { files.copy(files.files[0], to: $0) }
      #expect(!isWhole, "gap \(gap), size \(size)")
    }
  }
}
