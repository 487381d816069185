// An object that is passed through a C callback's context.

private typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Int

final class Codec {
  private var table: [Int]
  init(_ size: Int) { table = Array(repeating: 1, count: size) }
  fileprivate var sum: Int { table.reduce(0, +) }

  @inline(never) private static func call(_ callback: Callback, _ context: UnsafeMutableRawPointer) -> Int { callback(context) }

  @inline(never) private static func start(_ size: Int) -> Int {
    let context = Unmanaged.passRetained(Codec(size)).toOpaque()  // to change
    let callback: Callback = { raw in
      guard let raw else { return 0 }
      #if MENDED
        return Unmanaged<Codec>.fromOpaque(raw).takeRetainedValue().sum
      #else
        return Unmanaged<Codec>.fromOpaque(raw).takeUnretainedValue().sum
      #endif
    }
    return call(callback, context)
  }

  @inline(never) static func encode() {
    var sum = 0
    for size in 10..<16 { sum += start(size) }
    if sum < 0 { print(sum) }
  }
}
