import CZlib
import Testing
import TraceTestSupport

@testable import TraceExports
@testable import TraceReading

struct PprofProfileTests {
  private struct Decoded {
    var message: ProtobufMessage
    var strings: [String]

    init(_ profile: StackProfile) throws {
      message = try ProtobufMessage(PprofProfile.message(profile))
      strings = message.strings(6)
    }

    func string(_ number: UInt64) -> String { strings[Int(number)] }

    var sampleTypes: [String] {
      get throws { try message.messages(1).map { "\(string($0.number(1)))/\(string($0.number(2)))" } }
    }
  }

  @Test func sampleTypesFollowGosOrder() throws {
    let plain = try Decoded(ExportFixture().profile())
    let go = ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"]
    #expect(try Array(plain.sampleTypes.prefix(4)) == go)
    #expect(try !plain.sampleTypes.contains { $0.hasPrefix("leaked") || $0.hasPrefix("retains") })
    #expect(plain.string(plain.message.number(14)) == "inuse_space")
    let looked = try Decoded(ExportFixture().profile(leaked: [:]))
    #expect(try looked.sampleTypes.suffix(2) == ["leaked_objects/count", "leaked_space/bytes"])
  }

  @Test func samplesHaveTheFiguresOfTheirStack() throws {
    let decoded = try Decoded(ExportFixture().profile(leaked: [SiteID(0): BlockSum(blocks: 2, bytes: 400)]))
    let samples = try decoded.message.messages(2)
    let values = try samples.map { try $0.numbers(2) }
    // The values are blocks and bytes of each kind: allocated, live, at the peak, temporary, leaked.
    #expect(values == [[3, 600, 3, 600, 3, 600, 0, 0, 2, 400], [2, 80, 1, 16, 1, 64, 1, 64, 0, 0]])
    let labels = try samples.map {
      try $0.messages(3).map { "\(decoded.string($0.number(1))) \(decoded.string($0.number(2)))" }
    }
    #expect(labels == [["type App.Image"], ["type malloc"]])
  }

  @Test func inlinedCallsAreLinesOfOneLocation() throws {
    let decoded = try Decoded(ExportFixture().profile())
    let functions = try decoded.message.messages(5)
    let names = Dictionary(uniqueKeysWithValues: functions.map { ($0.number(1), decoded.string($0.number(2))) })
    let locations = try decoded.message.messages(4)
    let lines = try Dictionary(
      uniqueKeysWithValues: locations.map { location in
        (location.number(1), try location.messages(4).map { "\(names[$0.number(1)] ?? "?"):\($0.number(2))" })
      })
    let stacks = try decoded.message.messages(2).map { try $0.numbers(1).map { lines[$0] ?? [] } }
    #expect(stacks == [[["Image.init():7", "fill(_:):20"], ["main:3"]], [["other.so+0x10:0"], ["main:3"]]])
    let files = functions.map { decoded.string($0.number(4)) }
    #expect(files.contains("/src/Image.swift"))
  }

  @Test func mappingsHaveTheBuildIDAndTheirAddresses() throws {
    let decoded = try Decoded(ExportFixture().profile())
    let mappings = try decoded.message.messages(3)
    #expect(mappings.map { decoded.string($0.number(5)) } == ["/bin/app", "/lib/other.so"])
    #expect(mappings.map { decoded.string($0.number(6)) } == ["abcd", ""])
    #expect(mappings.map { [$0.number(2), $0.number(3)] } == [[0x40_0000, 0x50_0000], [0x70_0000, 0x80_0000]])
    for location in try decoded.message.messages(4) {
      let mapping = mappings[Int(location.number(2)) - 1]
      #expect(mapping.number(2)..<mapping.number(3) ~= location.number(3))
    }
  }

  @Test func timesComeFromTheRecording() throws {
    let decoded = try Decoded(ExportFixture().profile())
    #expect(decoded.message.number(9) == ExportFixture.start)
    #expect(decoded.message.number(10) > 0)
    #expect(decoded.strings.first == "")
  }

  @Test func fileIsTheCompressedMessage() throws {
    let profile = try ExportFixture().profile()
    let file = try #require(PprofProfile.file(profile))
    #expect(Array(file.prefix(2)) == [0x1F, 0x8B])
    #expect(try Gunzip.bytes(file) == PprofProfile.message(profile))
    #expect(PprofProfile.file(profile) == file)
  }

  @Test(arguments: [0, 1, 1 << 18, 1 << 18 + 1, 3_000_000]) func anySizeIsCompressed(size: Int) throws {
    var random = SeededRandom(seed: 7)
    let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) & 0x1F }
    #expect(try Gunzip.bytes(try #require(GzipFile.compressed(bytes))) == bytes)
  }

  @Test func stacksAreCutAtTheFrameLimit() throws {
    var fixture = try ExportFixture()
    let deep = fixture.trace.stack(Array(repeating: 0x40_0010, count: 500))
    fixture.trace.event(.malloc, 0x50_0000, size: 8, stack: deep, time: 300)
    let whole = try fixture.profile()
    #expect(whole.samples.last?.locations.count == 500 && whole.samples.last?.isCut == false)
    let cut = try fixture.profile(frameLimit: 2)
    #expect(cut.samples.last?.locations.count == 32 && cut.samples.last?.isCut == true)
    #expect(cut.sum(.liveBytes) == whole.sum(.liveBytes))
  }
}

/// Decompression by zlib, for comparison.
enum Gunzip {
  struct Failure: Error { var status: Int32 }

  static func bytes(_ file: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    var result: [UInt8] = []
    var status = Z_OK
    var input = file
    input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      while status == Z_OK {
        result += [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
          stream.next_out = room.baseAddress
          stream.avail_out = UInt32(room.count)
          status = inflate(&stream, Z_NO_FLUSH)
          count = room.count - Int(stream.avail_out)
        }
      }
    }
    guard status == Z_STREAM_END, stream.avail_in == 0 else { throw Failure(status: status) }
    return result
  }
}
