import Foundation

final class Crew {
    let captain: String
    var dutyMinutes = 0
    init(captain: String) { self.captain = captain }
}

final class Flight {
    enum Phase { case enroute, holding, landed, parked, diverted }
    let number: String
    let crew: Crew
    let gate: Int
    var fuel: Int
    var phase = Phase.enroute
    init(number: String, crew: Crew, gate: Int, fuel: Int) {
        self.number = number
        self.crew = crew
        self.gate = gate
        self.fuel = fuel
    }
}

final class Gate {
    let number: Int
    private(set) var expected: [String: Flight] = [:]
    private(set) var handled = 0
    init(number: Int) { self.number = number }

    func expect(_ flight: Flight) { expected[flight.number] = flight }

    func park(_ flight: Flight) {
        flight.phase = .parked
        handled += 1
        expected.removeValue(forKey: flight.number)
    }
}

final class Tower {
    private var holding: [Flight] = []
    private let gates: [Gate]
    private(set) var landings = 0
    private(set) var diversions = 0

    init(gateCount: Int) { gates = (0..<gateCount).map { Gate(number: $0) } }

    func announce(_ flight: Flight) {
        gates[flight.gate].expect(flight)
        flight.phase = .holding
        holding.append(flight)
    }

    func tick() {
        for flight in holding {
            flight.fuel -= 1
            flight.crew.dutyMinutes += 1
        }
        divertLowFuel()
        if !holding.isEmpty { land(holding.removeFirst()) }
    }

    private func divertLowFuel() {
        let low = holding.filter { $0.fuel <= 0 }
        guard !low.isEmpty else { return }
        holding.removeAll { $0.fuel <= 0 }
        for flight in low {
            flight.phase = .diverted
            diversions += 1
        }
    }

    private func land(_ flight: Flight) {
        flight.phase = .landed
        landings += 1
        gates[flight.gate].park(flight)
    }

    var busiestGate: Int { gates.max { $0.handled < $1.handled }!.number }
    var airborne: Int { holding.count }
}

let tower = Tower(gateCount: 18)
for minute in 0..<1500 {
    let fuel = minute % 50 == 13 ? 1 : 40
    let crew = Crew(captain: "C\(minute % 97)")
    tower.announce(Flight(number: "SW\(1000 + minute)", crew: crew, gate: minute % 18, fuel: fuel))
    tower.tick()
    usleep(700)
}
while tower.airborne > 0 { tower.tick() }
print("landed \(tower.landings), diverted \(tower.diversions)")
print("busiest gate \(tower.busiestGate)")
