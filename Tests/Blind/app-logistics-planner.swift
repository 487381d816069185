import Foundation

final class Depot {
    let name: String
    let x: Double
    let y: Double
    init(name: String, x: Double, y: Double) {
        self.name = name
        self.x = x
        self.y = y
    }
    func distance(to other: Depot) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

final class Parcel {
    let id: Int
    let destination: Depot
    let weight: Int
    init(id: Int, destination: Depot, weight: Int) {
        self.id = id
        self.destination = destination
        self.weight = weight
    }
}

final class Leg {
    let plan: Plan
    let from: Depot
    let to: Depot
    init(plan: Plan, from: Depot, to: Depot) {
        self.plan = plan
        self.from = from
        self.to = to
    }
    var length: Double { from.distance(to: to) }
    var cost: Double { length * (plan.isExpress ? 1.7 : 1.0) }
}

final class Plan {
    let number: Int
    let isExpress: Bool
    private(set) var legs: [Leg] = []
    private var parcels: [Parcel]

    init(number: Int, parcels: [Parcel], isExpress: Bool) {
        self.number = number
        self.parcels = parcels
        self.isExpress = isExpress
    }

    func route(from start: Depot) {
        var remaining = parcels.map(\.destination)
        var here = start
        while let next = remaining.min(by: { here.distance(to: $0) < here.distance(to: $1) }) {
            remaining.removeAll { $0 === next }
            if next !== here { legs.append(Leg(plan: self, from: here, to: next)) }
            here = next
        }
        if here !== start { legs.append(Leg(plan: self, from: here, to: start)) }
    }

    func improve() {
        guard legs.count > 3 else { return }
        let stops = legs.map(\.from)
        var best = stops
        var bestLength = length(of: best)
        for i in 1..<(stops.count - 1) {
            for j in (i + 1)..<stops.count {
                var trial = best
                trial[i...j].reverse()
                let trialLength = length(of: trial)
                if trialLength < bestLength {
                    best = trial
                    bestLength = trialLength
                }
            }
        }
        legs = best.indices.map { Leg(plan: self, from: best[$0], to: best[($0 + 1) % best.count]) }
    }

    private func length(of stops: [Depot]) -> Double {
        stops.indices.reduce(0) { $0 + stops[$1].distance(to: stops[($1 + 1) % stops.count]) }
    }

    func dissolve() {
        legs.removeAll()
        parcels.removeAll()
    }

    var cost: Double { legs.reduce(0) { $0 + $1.cost } }
    var load: Int { parcels.reduce(0) { $0 + $1.weight } }
}

final class Truck {
    let plate: String
    var kilometres = 0.0
    var delivered = 0
    init(plate: String) { self.plate = plate }
    func drive(_ plan: Plan) {
        kilometres += plan.legs.reduce(0) { $0 + $1.length }
        delivered += plan.load
    }
}

final class Planner {
    private let depots: [Depot]
    private let trucks: [Truck]
    private var waiting: [Parcel] = []
    private var numbers = 0
    private(set) var spent = 0.0
    private(set) var expressWins = 0

    init() {
        depots = (0..<24).map { Depot(name: "D\($0)", x: Double($0 * 37 % 101), y: Double($0 * 53 % 97)) }
        trucks = (0..<5).map { Truck(plate: "LKW-\($0)") }
    }

    func receive(_ id: Int) {
        waiting.append(Parcel(id: id, destination: depots[(id * 31 + id / 7) % depots.count], weight: 1 + id % 9))
    }

    private func propose(_ parcels: [Parcel], express: Bool) -> Plan {
        numbers += 1
        let plan = Plan(number: numbers, parcels: parcels, isExpress: express)
        plan.route(from: depots[0])
        if !express { plan.improve() }
        return plan
    }

    func dispatch() {
        guard waiting.count >= 6 else { return }
        let batch = Array(waiting.prefix(6))
        waiting.removeFirst(6)
        let regular = propose(batch, express: false)
        let heavy = batch.filter { $0.weight > 7 }.count
        if heavy >= 2 {
            let express = propose(batch, express: true)
            let budget = regular.cost * 1.8
            if express.cost < budget {
                expressWins += 1
                execute(express)
                return
            }
            express.dissolve()
        }
        execute(regular)
    }

    private func execute(_ plan: Plan) {
        let truck = trucks.min { $0.kilometres < $1.kilometres }!
        truck.drive(plan)
        spent += plan.cost
        plan.dissolve()
    }

    func report() {
        for truck in trucks { print("\(truck.plate): \(Int(truck.kilometres)) km, \(truck.delivered) kg") }
        print("plans \(numbers), express \(expressWins), spent \(Int(spent)), waiting \(waiting.count)")
    }
}

func workingDay() {
    let planner = Planner()
    for id in 0..<1500 {
        planner.receive(id)
        planner.dispatch()
        usleep(1200)
    }
    planner.report()
}

workingDay()
