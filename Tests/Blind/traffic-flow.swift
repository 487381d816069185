import Foundation

final class Vehicle: Sendable {
    let plate: Int
    let route: [Int]
    init(plate: Int, route: [Int]) {
        self.plate = plate
        self.route = route
    }
}

enum TrafficEvent: Sendable {
    case entered(segment: Int, vehicle: Vehicle)
    case left(segment: Int, vehicle: Vehicle)
    case arrived(Vehicle, hops: Int)
}

actor Segment {
    let number: Int
    private var inside: [Int: Vehicle] = [:]
    private(set) var peak = 0

    init(number: Int) { self.number = number }

    func enter(_ vehicle: Vehicle) {
        inside[vehicle.plate] = vehicle
        peak = max(peak, inside.count)
    }

    func leave(_ vehicle: Vehicle) { inside[vehicle.plate] = nil }
    func parked() -> Int { inside.count }
}

final class Tally {
    private(set) var entered = 0
    private(set) var hops = 0
    private var lastArrivals: [Vehicle] = []

    func record(_ event: TrafficEvent) {
        switch event {
        case .entered: entered += 1
        case .left: hops += 1
        case .arrived(let vehicle, _):
            lastArrivals.append(vehicle)
            if lastArrivals.count > 64 { lastArrivals.removeFirst() }
        }
    }

    var recentPlates: Int { lastArrivals.reduce(0) { $0 + $1.plate } }
}

struct Network: Sendable {
    let segments: [Segment]
    let events: AsyncStream<TrafficEvent>.Continuation

    func drive(_ vehicle: Vehicle, staysAtEnd: Bool) async {
        for (index, number) in vehicle.route.enumerated() {
            let segment = segments[number]
            await segment.enter(vehicle)
            events.yield(.entered(segment: number, vehicle: vehicle))
            try? await Task.sleep(nanoseconds: 1_500_000)
            if staysAtEnd && index == vehicle.route.count - 1 { break }
            await segment.leave(vehicle)
            events.yield(.left(segment: number, vehicle: vehicle))
        }
        events.yield(.arrived(vehicle, hops: vehicle.route.count))
    }
}

@main
struct TrafficApp {
    static func main() async {
        let (stream, continuation) = AsyncStream<TrafficEvent>.makeStream()
        let network = Network(segments: (0..<20).map { Segment(number: $0) }, events: continuation)
        let counter = Task { () -> (Int, Int, Int) in
            let tally = Tally()
            for await event in stream { tally.record(event) }
            return (tally.entered, tally.hops, tally.recentPlates)
        }
        for wave in 0..<60 {
            await withTaskGroup(of: Void.self) { group in
                for slot in 0..<15 {
                    let plate = wave * 15 + slot
                    let route = (0..<5).map { (plate * 3 + $0 * 7) % 20 }
                    group.addTask {
                        await network.drive(Vehicle(plate: plate, route: route), staysAtEnd: plate % 9 == 0)
                    }
                }
            }
            try? await Task.sleep(nanoseconds: 6_000_000)
        }
        continuation.finish()
        let (entered, hops, plates) = await counter.value
        var parked = 0
        for segment in network.segments { parked += await segment.parked() }
        print("entered \(entered), hops \(hops)")
        print("parked at destination \(parked), recent plate sum \(plates)")
    }
}
