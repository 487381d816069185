// Compression of payloads while they grow.

import CTraceFormat
import CTraceShim
import CZstd
import Testing

/// These tests share the recorder's compressors, so they run one at a time.
@Suite(.serialized) struct ChunkCompressorTests {
  private static let headerSize = MemoryLayout<lt_chunk_header>.size
  /// Test data that repeats itself like events do.
  private static let payload = (0..<112_000).map { UInt8(truncatingIfNeeded: $0 % 97 * ($0 >> 9)) }

  /// Compresses a payload in steps, and decompresses it. Returns nil if the compressor reports that compression was of
  /// no use.
  private func roundTrip(_ payload: [UInt8], step: Int) throws -> [UInt8]? {
    let compressor = try #require(lt_compressor_take(LT_COMPRESS_GROWING))
    defer { lt_compressor_return(compressor) }
    let stored = payload.withUnsafeBufferPointer { bytes in
      for end in stride(from: step, to: bytes.count, by: step) {
        lt_compressor_add(compressor, bytes.baseAddress, UInt32(end))
      }
      return Int(lt_compressor_end(compressor, bytes.baseAddress, UInt32(bytes.count)))
    }
    if stored == 0 { return nil }
    var result = [UInt8](repeating: 0, count: payload.count)
    let size = ZSTD_decompress(&result, result.count, lt_compressor_chunk(compressor) + Self.headerSize, stored)
    #expect(ZSTD_isError(size) == 0 && size == payload.count && stored < payload.count)
    return result
  }

  @Test("Compression in pieces restores the payload", arguments: [100, 4096, 32 << 10, 100_000, 200_000]) func pieces(
    step: Int
  ) throws {
    // Each round begins with the state that the previous round left in the compressor.
    for count in [Self.payload.count, 40_000, Self.payload.count] {
      let payload = Array(Self.payload[..<count])
      #expect(try roundTrip(payload, step: step) == payload)
    }
  }

  @Test("Incompressible data is not kept, and later payloads still compress") func noise() throws {
    var state: UInt64 = 1
    let noise = (0..<112_000).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(state >> 56)
    }
    #expect(try roundTrip(noise, step: 32 << 10) == nil)
    #expect(try roundTrip(Self.payload, step: 32 << 10) == Self.payload)
  }

  @Test("A payload that has shrunk is not compressed") func shrunk() throws {
    let compressor = try #require(lt_compressor_take(LT_COMPRESS_GROWING))
    defer { lt_compressor_return(compressor) }
    Self.payload.withUnsafeBufferPointer { bytes in
      lt_compressor_add(compressor, bytes.baseAddress, 50_000)
      #expect(lt_compressor_end(compressor, bytes.baseAddress, 40_000) == 0)
    }
  }

  @Test("Growing payloads leave compressors for whole ones, and no caller waits") func exhaustion() throws {
    var taken: [OpaquePointer] = []
    while taken.count < 1000, let compressor = lt_compressor_take(LT_COMPRESS_GROWING) { taken.append(compressor) }
    #expect((2..<1000).contains(taken.count) && Set(taken).count == taken.count)
    let whole = try #require(lt_compressor_take(LT_COMPRESS_WHOLE))
    #expect(!taken.contains(whole))
    lt_compressor_return(whole)
    let last = taken.removeLast()
    lt_compressor_return(last)
    #expect(lt_compressor_take(LT_COMPRESS_GROWING) == last)
    for compressor in taken + [last] { lt_compressor_return(compressor) }
    lt_compressor_return(nil)
  }
}
