// Memory whose only pointer is overwritten.

enum Scan {
  nonisolated(unsafe) private static var line: UnsafeMutablePointer<UInt8>?

  @inline(never) private static func next(_ size: Int) {
    #if MENDED
      line?.deallocate()
    #endif
    line = .allocate(capacity: size)  // to change
    line?.initialize(repeating: 7, count: size)
  }

  @inline(never) static func read() {
    for size in 100..<107 { next(size) }
    if line?.pointee == 8 { print("eight") }
  }
}
