// Turns traces into inputs for the fuzzer: their payloads, unsealed, so that a changed byte is not refused for its checksum.
// Usage: make-seeds DIRECTORY TRACE... Writes DIRECTORY/<name>.payloads, for every trace whose payloads are short enough.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@testable import TraceAnalysis

@main struct MakeSeeds {
  static func main() throws {
    for path in CommandLine.arguments.dropFirst(2) {
      guard let seed = try seed(TraceReader(path: path)) else { continue }
      let name = path.split(separator: "/").last.map(String.init) ?? "trace"
      guard let file = fopen("\(CommandLine.arguments[1])/\(name).payloads", "w") else { exit(1) }
      fwrite(seed, 1, seed.count, file)
      fclose(file)
    }
  }

  private static func seed(_ reader: TraceReader) -> [UInt8]? {
    // The way, and the setting for retains and releases.
    var result: [UInt8] = [2 | (reader.header.referenceCounting == .countsOnly ? 4 : 0)]
    let buffer = PayloadBuffer()
    for chunk in reader.chunks {
      guard reader.loader.load(chunk, into: buffer) == nil, buffer.count <= 0xFFFF else { return nil }
      let kind: UInt8 = chunk.kind == .definitions ? 0 : chunk.kind == .events ? 1 : 2
      result += [kind, UInt8(truncatingIfNeeded: chunk.thread), UInt8(buffer.count & 0xFF), UInt8(buffer.count >> 8), 1]
      result += buffer.bytes
    }
    return result
  }
}
