// Collects readings from roadside weather stations and answers "latest" queries.
import Foundation

final class StationReading {
    let station: String
    let minute: Int
    let temperature: Double
    let wind: Double

    init(station: String, minute: Int, temperature: Double, wind: Double) {
        self.station = station
        self.minute = minute
        self.temperature = temperature
        self.wind = wind
    }
}

struct ReadingKey: Hashable {
    let station: String
    let minute: Int
}

final class ReadingCache {
    private let lifetime: Int
    private var readings: [ReadingKey: StationReading] = [:]
    private(set) var expired = 0
    private(set) var peak = 0

    init(lifetime: Int) { self.lifetime = lifetime }

    func insert(_ reading: StationReading) {
        readings[ReadingKey(station: reading.station, minute: reading.minute)] = reading
        peak = max(peak, readings.count)
    }

    func lookup(station: String, minute: Int) -> StationReading? {
        readings[ReadingKey(station: station, minute: minute)]
    }

    func sweep(now: Int) {
        let before = readings.count
        readings = readings.filter { now - $0.value.minute < lifetime }
        expired += before - readings.count
    }
}

final class RoadWeatherService {
    private let cache = ReadingCache(lifetime: 10)
    private let stations: [String]
    private(set) var iceWarnings = 0
    private(set) var answered = 0

    init(stations: [String]) { self.stations = stations }

    func poll(minute: Int) {
        for (i, station) in stations.enumerated() {
            let phase = Double(minute) / 40 + Double(i)
            let reading = StationReading(
                station: station,
                minute: minute,
                temperature: 3 + 6 * sin(phase),
                wind: 5 + 3 * cos(phase * 1.7))
            cache.insert(reading)
        }
    }

    func checkIce(minute: Int) {
        for station in stations {
            guard let now = cache.lookup(station: station, minute: minute),
                  let earlier = cache.lookup(station: station, minute: minute - 5) else { continue }
            answered += 1
            if now.temperature < 0.5 && now.temperature < earlier.temperature && now.wind < 7 {
                iceWarnings += 1
            }
        }
    }

    func tick(minute: Int) {
        poll(minute: minute)
        checkIce(minute: minute)
        cache.sweep(now: minute)
    }

    var summary: String {
        "answered \(answered), ice warnings \(iceWarnings), expired \(cache.expired), peak \(cache.peak)"
    }
}

let service = RoadWeatherService(stations: ["E18-04", "E18-11", "R7-Hol", "R7-Geilo", "E6-Dovre", "E6-Oppdal"])
for minute in 0..<240 {
    service.tick(minute: minute)
    if minute % 20 == 0 { usleep(5000) }
}
print("road weather: \(service.summary)")
