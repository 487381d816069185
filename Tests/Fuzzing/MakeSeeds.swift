// Turns traces into inputs for the fuzzer: their payloads, unsealed, so that a changed byte is not refused for its
// checksum.
// Usage: make-seeds DIRECTORY TRACE... Writes DIRECTORY/<name>.payloads, for every trace whose payloads are short
// enough, and for some heaps made by hand.

import Glibc

@testable import TraceReading

@main struct MakeSeeds {
  static func main() throws {
    for path in CommandLine.arguments.dropFirst(2) {
      try write(TraceReader(path: path), path.split(separator: "/").last.map(String.init) ?? "trace")
    }
    for (name, heap) in FuzzHeaps.all { try write(heap.reader(), name) }
  }

  private static func write(_ reader: TraceReader, _ name: String) throws {
    guard let seed = try seed(reader) else { return }
    guard let file = fopen("\(CommandLine.arguments[1])/\(name).payloads", "w") else { exit(1) }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }

  private static func seed(_ reader: TraceReader) -> [UInt8]? {
    // The way, and the setting for retains and releases.
    var result: [UInt8] = [2 | (reader.header.referenceCounting == .countsOnly ? 4 : 0)]
    let buffer = PayloadBuffer()
    for chunk in reader.chunks {
      guard reader.loader.load(chunk, into: buffer) == nil, buffer.count <= 0xFFFF else { return nil }
      let kind: UInt8 =
        switch chunk.kind {
        case .definitions: 0
        case .events: 1
        case .closing: 2
        case .snapshot: 8
        case .memory: 9
        case .snapshotEnd: 10
        case .unknown: 3
        }
      result += [
        kind, UInt8(truncatingIfNeeded: chunk.thread), UInt8(buffer.count & 0xFF), UInt8(buffer.count >> 8), 1,
      ]
      var payload = Array(buffer.bytes)
      // An image has the time of its chunks, which follows all events.
      if chunk.kind == .snapshot, payload.count >= 16 {
        withUnsafeBytes(of: (UInt64(1) << 48).littleEndian) { payload.replaceSubrange(8..<16, with: $0) }
      }
      result += payload
    }
    return result
  }
}
