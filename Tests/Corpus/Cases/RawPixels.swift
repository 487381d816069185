// Memory from UnsafeMutablePointer.allocate that is never deallocated.

enum RawPixels: FaultyProgram {
  static func faulty() { for row in 0..<12 { convert(row) } }
  static func correct() { for row in 0..<12 { convertAndDeallocate(row) } }

  @inline(never) private static func fill(_ row: Int) -> UnsafeMutablePointer<Int> {
    let pixels = UnsafeMutablePointer<Int>.allocate(capacity: 50)
    pixels.initialize(repeating: row, count: 50)
    return pixels
  }

  @inline(never) private static func convert(_ row: Int) {
    let pixels = fill(row)
    note(pixels[row])
  }

  @inline(never) private static func convertAndDeallocate(_ row: Int) {
    let pixels = fill(row)
    note(pixels[row])
    pixels.deinitialize(count: 50)
    pixels.deallocate()
  }
}
