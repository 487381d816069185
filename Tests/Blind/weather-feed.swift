import Foundation

final class Reading: Sendable {
    let station: String
    let minute: Int
    let celsius: Double
    let hectopascal: Double

    init(station: String, minute: Int, celsius: Double, hectopascal: Double) {
        self.station = station
        self.minute = minute
        self.celsius = celsius
        self.hectopascal = hectopascal
    }
}

struct Channel {
    let name: String
    let stream: AsyncStream<Reading>
    let continuation: AsyncStream<Reading>.Continuation

    init(name: String) {
        self.name = name
        (stream, continuation) = AsyncStream.makeStream(of: Reading.self)
    }
}

final class Feed {
    static let shared = Feed()

    let archive = Channel(name: "archive")
    let display = Channel(name: "display")

    func publish(_ reading: Reading) {
        for channel in [archive, display] {
            channel.continuation.yield(reading)
        }
    }
}

struct Display {
    private(set) var line = ""
    private(set) var refreshes = 0

    mutating func show(_ reading: Reading) {
        let text = String(format: "%.1f", reading.celsius)
        line = "\(reading.station) \(text) C"
        refreshes += 1
    }
}

struct Archive {
    private(set) var total = 0
    private(set) var warmest = -100.0
    private var pressureSum = 0.0

    mutating func store(_ reading: Reading) {
        total += 1
        warmest = max(warmest, reading.celsius)
        pressureSum += reading.hectopascal
    }

    var meanPressure: Double { total == 0 ? 0 : pressureSum / Double(total) }
}

func measure(_ station: String, index: Int, minute: Int) -> Reading {
    let phase = Double(minute) / 1440.0 * 2.0 * Double.pi
    let celsius = 11.0 + Double(index) * 0.7 - 6.0 * cos(phase)
    let pressure = 1013.0 + 4.0 * sin(phase * 2.0 + Double(index))
    return Reading(station: station, minute: minute, celsius: celsius, hectopascal: pressure)
}

@main
struct WeatherBoard {
    static func main() async {
        let stations = ["Pier", "Airport", "Old Mill", "Ridge", "Campus"]
        let feed = Feed.shared
        var archive = Archive()
        var display = Display()
        var archiveReader = feed.archive.stream.makeAsyncIterator()
        var displayReader = feed.display.stream.makeAsyncIterator()

        for minute in 0..<600 {
            for (index, station) in stations.enumerated() {
                feed.publish(measure(station, index: index, minute: minute))
            }
            for _ in stations {
                if let reading = await archiveReader.next() { archive.store(reading) }
            }
            if let reading = await displayReader.next() { display.show(reading) }
            if minute % 10 == 0 { try? await Task.sleep(nanoseconds: 2_000_000) }
        }

        print("archived \(archive.total), warmest \(String(format: "%.2f", archive.warmest))")
        print("mean pressure \(String(format: "%.2f", archive.meanPressure))")
        print("display refreshed \(display.refreshes) times, last: \(display.line)")
    }
}
