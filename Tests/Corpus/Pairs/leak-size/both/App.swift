// Leaks as many pictures as the first argument says, each with as many bytes as the second, and one sound.

final class Picture {
  var loaded: (() -> Void)?
  let pixels: [UInt8]
  init(_ count: Int) { pixels = Array(repeating: 255, count: count) }
}

final class Sound {
  var played: (() -> Void)?
  var level = 3
}

@main enum App {
  static func main() {
    for _ in 0..<argument(1, or: 10) { show(argument(2, or: 100)) }
    play()
  }

  @inline(never) static func show(_ pixels: Int) {
    let picture = Picture(pixels)
    picture.loaded = { note(picture.pixels.count) }
    picture.loaded?()
  }

  @inline(never) static func play() {
    let sound = Sound()
    sound.played = { sound.level += 1 }
    sound.played?()
  }
}
