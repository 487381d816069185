// Meters whose readers wait, each in a loop of its own, and gauges that observe themselves: the frames of the tasks are full of what they and others had there before.
import Observation

@Observable
final class MeterValue {
  var kilowatts = 0
}

final class MeterGauge: @unchecked Sendable {
  private let value: MeterValue
  private(set) var redraws = 0

  init(_ value: MeterValue) { self.value = value }

  func draw(isLast: Bool) {
    redraws += 1
    guard !isLast else { return }
    withObservationTracking {
      _ = value.kilowatts
    } onChange: {
      self.draw(isLast: false)
    }
  }
}

final class MeterReader: @unchecked Sendable {
  private let readings: AsyncStream<Int>
  private let sender: AsyncStream<Int>.Continuation
  private var sum = 0

  init() { (readings, sender) = AsyncStream<Int>.makeStream() }

  func start() {
    Task {
      for await reading in readings { sum += reading }
    }
  }

  func deliver(_ reading: Int) { sender.yield(reading) }
  func stop() { sender.finish() }
}

enum MeterReadings: FaultyProgram {
  static func faulty() { run(isTidy: false) }
  static func correct() { run(isTidy: true) }

  private static func run(isTidy: Bool) {
    for hour in 0..<12 {
      waitFor { await round(hour, isTidy: isTidy) }
    }
    settle()
  }

  @inline(never) private static func round(_ hour: Int, isTidy: Bool) async {
    let value = MeterValue()
    let gauge = MeterGauge(value)
    gauge.draw(isLast: isTidy)
    let readers = (0..<3).map { _ in MeterReader() }
    for reader in readers { reader.start() }
    for reading in 0..<6 {
      readers[reading % 3].deliver(reading + hour)
      value.kilowatts = reading
      await Task.yield()
    }
    if isTidy { readers.forEach { $0.stop() } }
    try? await Task.sleep(nanoseconds: 2_000_000)
  }
}
