import Foundation

// Discrete event simulation of an airport: flights request runways, use
// gates, take passengers and leave. Events are closures in a time ordered heap.

struct EventQueue {
    private struct Entry {
        let time: Double
        let order: Int
        let action: () -> Void
        static func < (a: Entry, b: Entry) -> Bool { (a.time, a.order) < (b.time, b.order) }
    }
    private var heap: [Entry] = []
    private var counter = 0

    mutating func push(at time: Double, _ action: @escaping () -> Void) {
        counter += 1
        heap.append(Entry(time: time, order: counter, action: action))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> (time: Double, action: () -> Void)? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let top = heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[smallest] { smallest = child }
            if smallest == parent { break }
            heap.swapAt(smallest, parent)
            parent = smallest
        }
        return (top.time, top.action)
    }
}

final class Resource {
    let name: String
    private var free: Int
    private var waiting: [() -> Void] = []
    private(set) var longestQueue = 0

    init(name: String, capacity: Int) {
        self.name = name
        free = capacity
    }

    func acquire(_ then: @escaping () -> Void) {
        if free > 0 {
            free -= 1
            then()
        } else {
            waiting.append(then)
            longestQueue = max(longestQueue, waiting.count)
        }
    }

    func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst()()
        }
    }

    var idle: Int { free }
}

final class Passenger {
    let ticket: Int
    let luggage: Int
    init(ticket: Int, luggage: Int) {
        self.ticket = ticket
        self.luggage = luggage
    }
}

final class Flight {
    let number: Int
    var arrived = 0.0
    var landed = 0.0
    private(set) var passengers: [Passenger] = []
    init(number: Int) { self.number = number }

    func board(_ passenger: Passenger) { passengers.append(passenger) }
    func disembark() -> [Passenger] {
        defer { passengers.removeAll() }
        return passengers
    }
}

final class Simulation {
    private var queue = EventQueue()
    private(set) var now = 0.0
    private var seed: UInt64
    init(seed: UInt64) { self.seed = seed }

    func after(_ delay: Double, _ action: @escaping () -> Void) { queue.push(at: now + delay, action) }

    func run() -> Int {
        var events = 0
        while let (time, action) = queue.pop() {
            now = time
            action()
            events += 1
        }
        return events
    }

    func uniform(_ low: Double, _ high: Double) -> Double {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return low + (high - low) * Double(seed >> 11) / Double(1 << 53)
    }

    func exponential(mean: Double) -> Double { -mean * log(1 - uniform(0, 0.999_999)) }
}

final class Airport {
    private let simulation: Simulation
    private let runways = Resource(name: "runway", capacity: 2)
    private let gates = Resource(name: "gate", capacity: 14)
    private(set) var completed = 0
    private(set) var carried = 0
    private(set) var bags = 0
    private(set) var holding = 0.0
    private(set) var turnaround: [Double] = []
    private var ticket = 0

    init(simulation: Simulation) { self.simulation = simulation }

    func schedule(flights: Int) {
        var time = 0.0
        for number in 1...flights {
            time += simulation.exponential(mean: 5)
            let seats = Int(simulation.uniform(20, 90))
            simulation.after(time) { self.arrive(number: number, seats: seats) }
        }
    }

    private func newPassenger() -> Passenger {
        ticket += 1
        return Passenger(ticket: ticket, luggage: Int(simulation.uniform(0, 3)))
    }

    private func arrive(number: Int, seats: Int) {
        let flight = Flight(number: number)
        flight.arrived = simulation.now
        for _ in 0..<seats { flight.board(newPassenger()) }
        runways.acquire {
            self.simulation.after(self.simulation.uniform(1.5, 3)) {
                self.runways.release()
                flight.landed = self.simulation.now
                self.holding += flight.landed - flight.arrived
                self.gates.acquire { self.service(flight, seats: seats) }
            }
        }
    }

    private func service(_ flight: Flight, seats: Int) {
        simulation.after(simulation.uniform(8, 15)) {
            for passenger in flight.disembark() {
                self.carried += 1
                self.bags += passenger.luggage
            }
            self.boarding(flight, remaining: seats)
        }
    }

    private func boarding(_ flight: Flight, remaining: Int) {
        guard remaining > 0 else { return depart(flight) }
        let group = min(remaining, 12)
        simulation.after(simulation.uniform(1, 3)) {
            for _ in 0..<group { flight.board(self.newPassenger()) }
            self.boarding(flight, remaining: remaining - group)
        }
    }

    private func depart(_ flight: Flight) {
        runways.acquire {
            self.gates.release()
            self.simulation.after(self.simulation.uniform(1, 2)) {
                self.runways.release()
                self.completed += 1
                self.turnaround.append(self.simulation.now - flight.arrived)
            }
        }
    }

    var queues: String { "\(runways.name) \(runways.longestQueue), \(gates.name) \(gates.longestQueue)" }
    var settled: Bool { runways.idle == 2 && gates.idle == 14 }
}

var totalEvents = 0
for day in 1...130 {
    let simulation = Simulation(seed: UInt64(day) &* 7_919)
    let airport = Airport(simulation: simulation)
    airport.schedule(flights: 280)
    let events = simulation.run()
    totalEvents += events
    let sorted = airport.turnaround.sorted()
    if day % 25 == 0 {
        print("day \(day): flights \(airport.completed), passengers \(airport.carried), bags \(airport.bags), median turnaround \(String(format: "%.1f", sorted[sorted.count / 2])), holding \(Int(airport.holding)), longest queues \(airport.queues), settled \(airport.settled)")
    }
}
print("events \(totalEvents)")
