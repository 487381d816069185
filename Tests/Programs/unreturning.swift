// Ends by a call that does not return, from a function that owns objects whose last use is over. With "leak" it also lost some on the way.
import Foundation

final class Journal {
  var lines: [String] = []
  func add(_ line: String) { lines.append(line) }
}

final class Gauge {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func read(_ value: Int) { journal.add("value \(value) of a gauge that is read now and then") }
}

final class Reading {
  var value: Int
  init(_ value: Int) { self.value = value }
}

@inline(never) func lose(_ count: Int) {
  var places = 0
  for value in 0..<count { places &+= Int(bitPattern: Unmanaged.passRetained(Reading(value)).toOpaque()) & 7 }
  print("at odd places: \(places)")
}

@inline(never) func run(_ arguments: [String]) -> Never {
  let gauge = Gauge(Journal())
  for value in 0..<10 { gauge.read(value) }
  print("lines \(gauge.journal.lines.count), and these words make the text longer than what fits into a string itself: \(arguments.count)")
  if arguments.contains("leak") { lose(6) }
  let ready = DispatchSemaphore(value: 0)
  DispatchQueue.global().async { ready.signal() }
  ready.wait()
  exit(0)
}

run(CommandLine.arguments)
