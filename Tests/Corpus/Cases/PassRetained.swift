// Objects handed to C as a user-data pointer, retained, that nobody takes back.

final class AudioBuffer {
  let samples: [Int]
  init(count: Int) { samples = Array(repeating: 7, count: count) }
}

enum PassRetained: FaultyProgram {
  static func faulty() { for count in 1...5 { play(count) } }
  static func correct() { for count in 1...5 { playAndRelease(count) } }

  @inline(never) private static func play(_ count: Int) {
    let context = Unmanaged.passRetained(AudioBuffer(count: count)).toOpaque()
    callback(context)
  }

  @inline(never) private static func playAndRelease(_ count: Int) {
    let context = Unmanaged.passRetained(AudioBuffer(count: count)).toOpaque()
    callback(context)
    Unmanaged<AudioBuffer>.fromOpaque(context).release()
  }

  @inline(never) private static func callback(_ context: UnsafeMutableRawPointer) {
    note(Unmanaged<AudioBuffer>.fromOpaque(context).takeUnretainedValue().samples.count)
  }
}
