// Subclasses of NSObject that refer to each other.
import Foundation

final class MediaPlayer: NSObject {
  var view: MediaPlayerView?
  weak var surface: MediaPlayerView?
  var position = 0
}

final class MediaPlayerView: NSObject {
  private let player: MediaPlayer
  init(player: MediaPlayer) { self.player = player }
  func draw() { note(player.position) }
}

enum ObjectiveSubclasses: FaultyProgram {
  static func faulty() { for position in 0..<5 { play(position) } }
  static func correct() { for position in 0..<5 { playWeakly(position) } }

  @inline(never) private static func play(_ position: Int) {
    let player = MediaPlayer()
    player.position = position
    let view = MediaPlayerView(player: player)
    player.view = view
    view.draw()
  }

  @inline(never) private static func playWeakly(_ position: Int) {
    let player = MediaPlayer()
    player.position = position
    let view = MediaPlayerView(player: player)
    player.surface = view
    view.draw()
  }
}
