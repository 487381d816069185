final class Chunk {
  private var bytes: [UInt8]
  init(_ size: Int) { bytes = Array(repeating: 7, count: size) }
  @inline(never) func checksum() -> Int { bytes.reduce(0) { $0 &+ Int($1) } }
}
