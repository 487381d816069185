// A timer calls a method of a controller, and so has the controller as its target for ever.
import Foundation

final class PlaybackController: @unchecked Sendable {
  private var position = 0
  private var titles: [String]

  init(titles: [String]) { self.titles = titles }

  func play() {
    RunLoop.main.add(Timer(timeInterval: 0.005, repeats: true, block: timerFired), forMode: .common)
  }

  func playWeakly() {
    let timer = Timer(timeInterval: 0.005, repeats: true) { [weak self] timer in
      guard let self else { return timer.invalidate() }
      self.timerFired(timer)
    }
    RunLoop.main.add(timer, forMode: .common)
  }

  @Sendable private func timerFired(_ timer: Timer) {
    position += 1
    note(position + titles.count)
  }
}

enum TimerTargetController: FaultyProgram {
  static func faulty() {
    for number in 0..<5 { listen(to: number, weakly: false) }
    turnRunLoop(milliseconds: 20)
    settle()
  }

  static func correct() {
    for number in 0..<5 { listen(to: number, weakly: true) }
    turnRunLoop(milliseconds: 20)
    settle()
  }

  @inline(never) private static func listen(to number: Int, weakly: Bool) {
    let controller = PlaybackController(titles: (0..<4).map { "track \($0) of album \(number)" })
    if weakly { controller.playWeakly() } else { controller.play() }
    turnRunLoop(milliseconds: 15)
  }
}
