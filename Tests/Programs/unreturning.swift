// Enters a call that never returns, from a function that owns an object whose last use is over. With "leak" it also loses some objects first.
import Foundation

final class Gauge {
  var readings: [Int] = []
  @inline(never) func read(_ value: Int) { readings.append(value) }
}

final class Reading {
  var value: Int
  init(_ value: Int) { self.value = value }
}

/// A monitor does not own its gauge.
final class Monitor {
  weak var gauge: Gauge?
  @inline(never) func watch(_ gauge: Gauge) { self.gauge = gauge }
}
let monitor = Monitor()

@inline(never) func lose(_ count: Int) {
  var places = 0
  for value in 0..<count { places &+= Int(bitPattern: Unmanaged.passRetained(Reading(value)).toOpaque()) & 7 }
  print("at odd places: \(places)")
}

@inline(never) func serve(_ isLosing: Bool) -> Never {
  let gauge = Gauge()
  monitor.watch(gauge)
  for value in 0..<10 { gauge.read(value) }
  if isLosing { lose(6) }
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
    print("readings: \(monitor.gauge?.readings.count ?? 0)")
    exit(0)
  }
  dispatchMain()
}

serve(CommandLine.arguments.contains("leak"))
