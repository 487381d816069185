import Foundation

// Live positions of a delivery fleet. The map view is slower than the vehicles, so the stream
// only carries the newest positions and the feed counts the skipped ones.

final class Position: Sendable {
    let vehicle: Int
    let latitude: Double
    let longitude: Double
    let heading: Double

    init(vehicle: Int, latitude: Double, longitude: Double, heading: Double) {
        self.vehicle = vehicle
        self.latitude = latitude
        self.longitude = longitude
        self.heading = heading
    }

    func distance(to other: Position) -> Double {
        let rad = Double.pi / 180
        let dLat = (other.latitude - latitude) * rad, dLon = (other.longitude - longitude) * rad
        let a = sin(dLat / 2) * sin(dLat / 2)
            + cos(latitude * rad) * cos(other.latitude * rad) * sin(dLon / 2) * sin(dLon / 2)
        return 6_371_000 * 2 * atan2(a.squareRoot(), (1 - a).squareRoot())
    }
}

struct Vehicle {
    let id: Int
    var latitude: Double
    var longitude: Double
    var heading: Double

    mutating func drive() -> Position {
        heading += sin(latitude * 900 + Double(id)) * 0.4
        latitude += cos(heading) * 0.0004
        longitude += sin(heading) * 0.0005
        return Position(vehicle: id, latitude: latitude, longitude: longitude, heading: heading)
    }
}

final class Feed {
    private let continuation: AsyncStream<Position>.Continuation
    private var fleet: [Vehicle]
    private(set) var sent = 0
    private(set) var skipped = 0

    init(continuation: AsyncStream<Position>.Continuation, vehicles: Int) {
        self.continuation = continuation
        fleet = (0..<vehicles).map {
            Vehicle(id: $0, latitude: 47.3 + Double($0) * 0.01, longitude: 8.5, heading: Double($0))
        }
    }

    func publish() {
        for index in fleet.indices {
            sent += 1
            if case .dropped = continuation.yield(fleet[index].drive()) { skipped += 1 }
        }
    }

    func close() { continuation.finish() }
}

struct MapView {
    private var markers: [Int: Position] = [:]
    private(set) var travelled = 0.0
    private(set) var frames = 0

    mutating func draw(_ position: Position) {
        if let previous = markers.updateValue(position, forKey: position.vehicle) {
            travelled += previous.distance(to: position)
        }
        frames += 1
    }

    var boundingBox: (Double, Double) {
        let latitudes = markers.values.map(\.latitude)
        return (latitudes.min() ?? 0, latitudes.max() ?? 0)
    }
}

let (stream, continuation) = AsyncStream.makeStream(of: Position.self, bufferingPolicy: .bufferingNewest(40))
let feed = Feed(continuation: continuation, vehicles: 15)
var view = MapView()
var iterator = stream.makeAsyncIterator()

for tick in 0..<160 {
    feed.publish()
    for _ in 0..<6 {
        if let position = await iterator.next() { view.draw(position) }
    }
    if tick % 80 == 79 { print("tick \(tick + 1): frames \(view.frames), skipped \(feed.skipped)") }
    try await Task.sleep(nanoseconds: 5_500_000)
}
feed.close()
while let position = await iterator.next() { view.draw(position) }
let box = view.boundingBox
print(String(format: "sent %d, skipped %d, box %.3f..%.3f, %.1f km", feed.sent, feed.skipped, box.0, box.1, view.travelled / 1000))
