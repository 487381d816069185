// A doubly linked list with strong references in both directions.

final class Track {
  var next: Track?
  var previous: Track?
  let seconds: Int
  init(seconds: Int) { self.seconds = seconds }
}

enum Playlist: FaultyProgram {
  static func faulty() { for seconds in 0..<5 { play(seconds) } }
  static func correct() { for seconds in 0..<5 { playAndUnlink(seconds) } }

  @inline(never) private static func list(_ seconds: Int) -> Track {
    let first = Track(seconds: seconds)
    var last = first
    for number in 1..<8 {
      let track = Track(seconds: seconds + number)
      last.next = track
      track.previous = last
      last = track
    }
    return first
  }

  @inline(never) private static func play(_ seconds: Int) {
    var track: Track? = list(seconds)
    while let current = track {
      note(current.seconds)
      track = current.next
    }
  }

  @inline(never) private static func playAndUnlink(_ seconds: Int) {
    var track: Track? = list(seconds)
    while let current = track {
      note(current.seconds)
      current.previous = nil
      track = current.next
    }
  }
}
