// A buffer that is not freed on one of the function's two return paths.

enum Postmark {
  @inline(never) private static func checksum(of letter: Int) -> Int? {
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 96)
    #if MENDED
      defer { buffer.deallocate() }
    #endif
    buffer.initialize(repeating: UInt8(truncatingIfNeeded: letter))
    if letter % 5 == 2 { return nil }
    let sum = buffer.reduce(0) { $0 + Int($1) }
    #if !MENDED
      buffer.deallocate()
    #endif
    return sum
  }

  @inline(never) static func sort() {
    var refused = 0
    for letter in 0..<50 where checksum(of: letter) == nil { refused += 1 }
    if refused != 10 { print("\(refused) letters refused") }
  }
}
