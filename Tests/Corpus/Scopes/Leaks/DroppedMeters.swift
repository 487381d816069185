// Meters read themselves by a timer of their own. Some are thrown away without the timer being cancelled.
import Dispatch
import Glibc

final class PowerMeter: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private var readings = 0

  init(on queue: DispatchQueue) { timer = DispatchSource.makeTimerSource(queue: queue) }

  func start() {
    timer.schedule(deadline: .now(), repeating: .milliseconds(20))
    timer.setEventHandler { self.readings += 1 }
    timer.activate()
  }

  deinit { endedMeters.with { $0 += 1 } }

  func stop() {
    timer.setEventHandler(handler: nil)
    timer.cancel()
  }
}

private let endedMeters = Locked(0)

final class MeterBoard {
  private let queue = DispatchQueue(label: "meters")
  private var meters: [Int: PowerMeter] = [:]

  func plug(_ place: Int) {
    let meter = PowerMeter(on: queue)
    meters[place] = meter
    meter.start()
  }

  func unplug(_ place: Int, stopping: Bool) {
    let meter = meters.removeValue(forKey: place)
    if stopping { queue.sync { meter?.stop() } }
  }
}

enum DroppedMeters: FaultyProgram {
  private static let board = Locked(MeterBoard())

  static func faulty() { work(stopsAll: false) }
  static func correct() { work(stopsAll: true) }

  @inline(never) private static func work(stopsAll: Bool) {
    for round in 0..<6 {
      for place in 0..<3 { board.with { $0.plug(place) } }
      for place in 0..<3 { board.with { $0.unplug(place, stopping: stopsAll || place > 0 || round % 2 == 0) } }
    }
    // libdispatch lets go of a timer after its queue has cancelled it.
    while endedMeters.with({ $0 }) < (stopsAll ? 18 : 15) { usleep(1000) }
  }
}
