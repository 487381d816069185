import Foundation

enum BulletinError: Error {
    case malformed(station: String)
    case outdated(hours: Int)
}

struct Observation: Sendable {
    let station: String
    let celsius: Double
    let hPa: Int
}

final class FetchTask: @unchecked Sendable {
    let station: String
    let hour: Int
    private(set) var received: [UInt8] = []

    init(station: String, hour: Int) {
        self.station = station
        self.hour = hour
    }

    func feed(_ text: String) {
        received.append(contentsOf: text.utf8)
    }

    func parse() throws -> Observation {
        let text = String(decoding: received, as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count == 3, let temperature = Double(fields[1]), let pressure = Int(fields[2]) else {
            throw BulletinError.malformed(station: station)
        }
        return Observation(station: String(fields[0]), celsius: temperature, hPa: pressure)
    }
}

actor ObservationDesk {
    private var active: [String: FetchTask] = [:]
    private var observations: [Observation] = []

    func collect(station: String, hour: Int, bulletin: String, ageHours: Int) async throws {
        let key = "\(station)@\(hour)"
        let task = FetchTask(station: station, hour: hour)
        active[key] = task
        task.feed(bulletin)
        await Task.yield()
        guard ageHours < 6 else { throw BulletinError.outdated(hours: ageHours) }
        let observation = try task.parse()
        observations.append(observation)
        active[key] = nil
    }

    func coldest() -> Observation? {
        observations.min { ($0.celsius, $0.station) < ($1.celsius, $1.station) }
    }

    func summary() -> (count: Int, meanPressure: Double) {
        let total = observations.reduce(0) { $0 + $1.hPa }
        return (observations.count, observations.isEmpty ? 0 : Double(total) / Double(observations.count))
    }
}

@main
struct WeatherCollector {
    static let desk = ObservationDesk()
    static let stations = ["EGLC", "LOWI", "ENSB", "BIRK", "LEMD"]

    static func bulletin(_ station: String, _ seed: Int) -> String {
        let temperature = Double((seed * 17) % 400) / 10 - 12
        if seed % 10 == 7 { return "\(station) NIL" }
        return String(format: "%@ %.1f %d", station, temperature, 980 + (seed * 3) % 50)
    }

    static func main() async {
        var malformed = 0
        var outdated = 0
        for hour in 0..<200 {
            for (index, station) in stations.enumerated() {
                let seed = hour * 5 + index
                do {
                    try await desk.collect(station: station, hour: hour, bulletin: bulletin(station, seed), ageHours: seed % 50 < 3 ? 9 : 1)
                } catch BulletinError.malformed {
                    malformed += 1
                } catch BulletinError.outdated {
                    outdated += 1
                } catch {
                    print("unexpected error")
                }
            }
        }
        let result = await desk.summary()
        print("observations: \(result.count), malformed: \(malformed), outdated: \(outdated)")
        print(String(format: "mean pressure %.2f hPa", result.meanPressure))
        if let coldest = await desk.coldest() {
            print(String(format: "coldest %@ at %.1f C", coldest.station, coldest.celsius))
        }
    }
}
