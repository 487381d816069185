// A dispatch timer whose handler keeps the timer's owner.
import Dispatch

final class Heartbeat {
  private static let running = DispatchGroup()
  private let timer: any DispatchSourceTimer
  private var beats = 0

  init() {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + .seconds(3600))
    timer.setCancelHandler { Self.running.leave() }
  }

  @inline(never) func start() {
    #if MENDED
      timer.setEventHandler { [weak self] in self?.beats += 1 }
    #else
      timer.setEventHandler { self.beats += 1 }  // to change
    #endif
    Self.running.enter()
    timer.resume()
  }

  deinit { timer.cancel() }

  @inline(never) static func beat() {
    for _ in 0..<40 {
      let heartbeat = Heartbeat()
      heartbeat.start()
    }
    #if MENDED
      // A cancelled timer is there until its queue has seen that.
      running.wait()
    #endif
  }
}
