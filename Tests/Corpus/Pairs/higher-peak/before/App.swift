@main enum App {
  static func main() {
    var pending: [Chunk] = []
    pending.reserveCapacity(32)
    for number in 0..<32 {
      pending.append(Chunk(4000 + number))
      note(pending.removeLast().checksum())
    }
  }
}
