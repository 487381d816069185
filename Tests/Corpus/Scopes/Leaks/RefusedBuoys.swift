// Each link to a buoy beats with a timer of its own. An early return leaves the timers of refused links running. Most of these beat so often
// that the program seems to use the links. Only a few are idle, so the ages of the refused links say little.
import Foundation

final class BuoyLink: @unchecked Sendable {
  private let number: Int
  private let timer: any DispatchSourceTimer

  init(number: Int, queue: DispatchQueue) {
    self.number = number
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  func start() {
    let isIdle = number % 20 == 0
    timer.schedule(deadline: .now() + .milliseconds(2), repeating: isIdle ? .seconds(600) : .milliseconds(2))
    timer.setEventHandler {
      beating.append(self)
      beating.removeAll(keepingCapacity: true)
    }
    timer.resume()
  }

  func read() {
    for height in 0..<20 { note([height, number].count) }
  }

  func end() { timer.cancel() }
}

nonisolated(unsafe) private var beating: [BuoyLink] = []

enum RefusedBuoys: FaultyProgram {
  private static let queue = DispatchQueue(label: "buoys")

  static func faulty() { survey(endingRefused: false) }
  static func correct() { survey(endingRefused: true) }

  @inline(never) private static func survey(endingRefused: Bool) {
    for number in 0..<62 { visit(number, endingRefused) }
    // Until the cancelled sources have let go of their handlers.
    for _ in 0..<4 {
      queue.sync {}
      usleep(5_000)
    }
  }

  @inline(never) private static func visit(_ number: Int, _ endingRefused: Bool) {
    let link = BuoyLink(number: number, queue: queue)
    link.start()
    usleep(4_000)
    guard number % 5 != 0 else {
      if endingRefused { link.end() }
      return
    }
    link.read()
    link.end()
  }
}
