// A delegate that owns the object it serves.

private protocol StopwatchDelegate: AnyObject {
  func passed(_ laps: Int)
}

final class Stopwatch {
  #if MENDED
    fileprivate weak var delegate: (any StopwatchDelegate)?
  #else
    fileprivate var delegate: (any StopwatchDelegate)?
  #endif
  private var laps = 0

  func lap() {
    laps += 1
    delegate?.passed(laps)
  }

  @inline(never) static func measure() {
    for _ in 0..<5 {
      let race = Race()
      race.run()
    }
  }
}

private final class Race: StopwatchDelegate {
  private let stopwatch = Stopwatch()
  private var distance = 0

  @inline(never) func run() {
    stopwatch.delegate = self
    stopwatch.lap()
    if distance > 100 { print(distance) }
  }

  func passed(_ laps: Int) { distance += laps }
}
