// Decodes the heap snapshots of a trace by their definition in CTraceFormat.h alone. This code is independent of the
// recorder and the analysis, so that it can check both.

import CTraceFormat
import CZstd
import Foundation

struct HeapImage {
  var header: lt_snapshot
  var label: String
  var threads: [lt_snapshot_thread]
  var regions: [lt_snapshot_region]
  var words: [UInt64: UInt64] = [:]
  var pageCount = 0
  /// Whether the words were decoded.
  var hasWords = false
  /// The raw payloads of all chunks of the image.
  var payloads: [[UInt8]]
  var end: lt_snapshot_end?

  var isFrozen: Bool { header.flags & UInt32(LT_SNAPSHOT_FROZEN) != 0 }
  var threadsWithRegisters: Int { threads.count { $0.flags & UInt32(LT_SNAPSHOT_THREAD_REGISTERS) != 0 } }

  /// Whether the end record exists, reports no error, and agrees with the counts of the image.
  var isComplete: Bool {
    guard let end else { return false }
    let agrees = !hasWords || (Int(end.pageCount) == pageCount && Int(end.wordCount) == words.count)
    return end.error == 0 && end.number == header.number && Int(end.partCount) == payloads.count - 2 && agrees
  }

  /// Returns all images of a trace, in order.
  ///
  /// - Parameter isRead: Whether to decode the words of the image with this number.
  static func images(of path: String, words isRead: (Int) -> Bool = { _ in true }) throws -> [HeapImage] {
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var result: [HeapImage] = []
    var sequences: [UInt16: UInt32] = [:]
    var at = Int(LT_TRACE_HEADER_SIZE)
    let headerSize = MemoryLayout<lt_chunk_header>.size
    while at + headerSize <= file.count {
      let chunk: lt_chunk_header = load(file, at)
      guard chunk.magic == UInt32(LT_CHUNK_MAGIC), at + headerSize + Int(chunk.storedSize) <= file.count else {
        at += Int(LT_CHUNK_ALIGNMENT)
        continue
      }
      let kind = Int(chunk.kind)
      let stored = file[(at + headerSize)..<(at + headerSize + Int(chunk.storedSize))]
      at = (at + headerSize + Int(chunk.storedSize) + 7) & ~7
      guard [Int(LT_CHUNK_SNAPSHOT), Int(LT_CHUNK_MEMORY), Int(LT_CHUNK_SNAPSHOT_END)].contains(kind) else { continue }
      let payload = try decompressed(Array(stored), chunk)
      guard chunk.thread == 0, chunk.sequence == sequences[chunk.kind, default: 0] else {
        throw CommandFailure(
          "chunk of kind \(kind) with sequence \(chunk.sequence), expected \(sequences[chunk.kind, default: 0])")
      }
      sequences[chunk.kind, default: 0] += 1
      switch kind {
      case Int(LT_CHUNK_SNAPSHOT): result.append(HeapImage(beginning: payload))
      case Int(LT_CHUNK_MEMORY):
        result[result.count - 1].payloads.append(payload)
        if isRead(result.count) { try result[result.count - 1].add(part: payload) }
      default:
        result[result.count - 1].payloads.append(payload)
        let end: lt_snapshot_end = load(payload, 0)
        result[result.count - 1].end = end
      }
    }
    return result
  }

  private init(beginning payload: [UInt8]) {
    let header: lt_snapshot = Self.load(payload, 0)
    self.header = header
    var at = MemoryLayout<lt_snapshot>.size
    threads = (0..<Int(header.threadCount)).map { Self.load(payload, at + $0 * MemoryLayout<lt_snapshot_thread>.size) }
    at += threads.count * MemoryLayout<lt_snapshot_thread>.size
    regions = (0..<Int(header.regionCount)).map { Self.load(payload, at + $0 * MemoryLayout<lt_snapshot_region>.size) }
    at += regions.count * MemoryLayout<lt_snapshot_region>.size
    label = String(decoding: payload[at..<(at + Int(header.labelSize))], as: UTF8.self)
    payloads = [payload]
  }

  private mutating func add(part payload: [UInt8]) throws {
    let part: lt_memory_part = Self.load(payload, 0)
    guard part.snapshot == header.number, Int(part.part) == payloads.count - 2 else {
      throw CommandFailure("a part is out of order")
    }
    hasWords = true
    var at = MemoryLayout<lt_memory_part>.size
    func varint() -> UInt64 {
      var value: UInt64 = 0, shift: UInt64 = 0
      while true {
        let byte = payload[at]
        at += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
    }
    var page: UInt64 = 0, word: UInt64 = 0
    while at < payload.count {
      let step = varint()
      guard step > 0 else { throw CommandFailure("pages are out of order") }
      page += step
      pageCount += 1
      let groups: [UInt64] = (0..<8).map { Self.load(payload, at + 8 * $0) }
      at += 64
      for (group, bits) in groups.enumerated() {
        var rest = bits
        while rest != 0 {
          let zigzag = varint()
          word = word &+ (zigzag >> 1 ^ (0 &- (zigzag & 1)))
          words[page * 4096 + UInt64(group * 64 + rest.trailingZeroBitCount) * 8] = word
          rest &= rest - 1
        }
      }
    }
  }

  private static func load<T: BitwiseCopyable>(_ bytes: [UInt8], _ offset: Int) -> T {
    precondition(offset + MemoryLayout<T>.size <= bytes.count)
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
  }

  private static func decompressed(_ stored: [UInt8], _ chunk: lt_chunk_header) throws -> [UInt8] {
    guard Int(chunk.compression) == Int(LT_COMPRESSION_ZSTD) else { return stored }
    var raw = [UInt8](repeating: 0, count: Int(chunk.rawSize))
    guard ZSTD_decompress(&raw, raw.count, stored, stored.count) == raw.count else {
      throw CommandFailure("a chunk cannot be decompressed")
    }
    return raw
  }
}
