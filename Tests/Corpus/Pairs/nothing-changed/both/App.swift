// Threads, tasks, timers and hashed collections, whose order differs in every run. Some objects leak, the same number in every run.

import Foundation

final class Station: Hashable {
  let name: String
  var neighbours: [String: Station] = [:]
  init(_ name: String) { self.name = name }
  static func == (a: Station, b: Station) -> Bool { a.name == b.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

final class Train: @unchecked Sendable {
  var arrived: (() -> Void)?
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// What stops at a depot, which keeps it by name; either way round a depot is a cycle, and both ways are as long.
class Vehicle {
  var depot: Depot?
}

final class Bus: Vehicle {
  var seats = 40
}

final class Tram: Vehicle {
  var cars = 2
}

final class Depot {
  var vehicles: [String: Vehicle] = [:]
}

actor Board {
  private var lines: [String: Int] = [:]
  func add(_ line: String) { lines[line, default: 0] += 1 }
  func remove(_ line: String) { lines[line] = nil }
  var count: Int { lines.count }
}

final class Log: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: Set<String> = []
  func add(_ line: String) { lock.withLock { _ = lines.insert(line) } }
  func clear() { lock.withLock { lines.removeAll(keepingCapacity: true) } }
}

@main enum App {
  static let log = Log()
  static let board = Board()

  static func main() async {
    network()
    for number in 0..<8 { depot(number) }
    threads()
    await tasks()
    await timers()
    log.clear()
    try? await Task.sleep(nanoseconds: 20_000_000)
  }

  /// Stations that refer to each other and are never freed.
  @inline(never) static func network() {
    let stations = (0..<40).map { Station("station with the number \($0)") }
    for (index, station) in stations.enumerated() {
      for step in 1...3 { station.neighbours[stations[(index + step) % 40].name] = stations[(index + step) % 40] }
    }
    note(Set(stations).count)
  }

  @inline(never) static func depot(_ number: Int) {
    let depot = Depot()
    for index in 0..<6 {
      let vehicle = index % 2 == 0 ? Bus() : Tram()
      vehicle.depot = depot
      depot.vehicles["vehicle \(index) of the depot \(number)"] = vehicle
    }
  }

  @inline(never) static func threads() {
    let group = DispatchGroup()
    for number in 0..<4 {
      group.enter()
      Thread.detachNewThread {
        for index in 0..<50 { log.add("thread \(number) has done its work number \(index)") }
        depart(number)
        group.leave()
      }
    }
    group.wait()
  }

  @inline(never) static func depart(_ number: Int) {
    let train = Train(number)
    train.arrived = { note(train.number) }
    train.arrived?()
  }

  @inline(never) static func tasks() async {
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<30 {
        group.addTask {
          await board.add("line with the number \(number)")
          await Task.yield()
          await board.remove("line with the number \(number)")
        }
      }
    }
    note(await board.count)
  }

  @inline(never) static func timers() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let source = DispatchSource.makeTimerSource(queue: .global())
      nonisolated(unsafe) var left = 5
      source.setEventHandler {
        log.add("timer has \(left) left to go from now on")
        left -= 1
        if left == 0 {
          source.cancel()
          continuation.resume()
        }
      }
      source.schedule(deadline: .now(), repeating: .milliseconds(3))
      source.activate()
    }
  }
}
