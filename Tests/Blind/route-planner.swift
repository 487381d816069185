import Foundation

// Route planner: loads a road network, answers shortest path queries with A*
// and closes and reopens roads between rounds.

final class Road {
    let name: String
    unowned let from: Junction
    unowned let to: Junction
    let length: Double
    var speed: Double
    var isOpen = true

    init(name: String, from: Junction, to: Junction, length: Double, speed: Double) {
        self.name = name
        self.from = from
        self.to = to
        self.length = length
        self.speed = speed
    }

    var minutes: Double { length / speed * 60 }
}

final class Junction {
    let id: Int
    let x: Double, y: Double
    fileprivate(set) var outgoing: [Road] = []
    private struct Incoming { weak var road: Road? }
    private var incoming: [Incoming] = []

    init(id: Int, x: Double, y: Double) {
        self.id = id
        self.x = x
        self.y = y
    }

    func accept(_ road: Road) { incoming.append(Incoming(road: road)) }
    var openIncoming: Int { incoming.reduce(0) { $0 + ($1.road?.isOpen == true ? 1 : 0) } }

    func distance(to other: Junction) -> Double { ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot() }
}

final class RoadMap {
    private(set) var junctions: [Junction] = []
    private(set) var roads: [Road] = []

    func addJunction(x: Double, y: Double) { junctions.append(Junction(id: junctions.count, x: x, y: y)) }

    func connect(_ a: Int, _ b: Int, name: String, speed: Double) {
        for (start, end) in [(junctions[a], junctions[b]), (junctions[b], junctions[a])] {
            let road = Road(name: name, from: start, to: end, length: start.distance(to: end), speed: speed)
            start.outgoing.append(road)
            end.accept(road)
            roads.append(road)
        }
    }
}

/// A reached junction; the step it was reached from is kept for the answer.
final class Step {
    let junction: Junction
    let road: Road?
    let previous: Step?
    let cost: Double
    let estimate: Double

    init(junction: Junction, road: Road?, previous: Step?, cost: Double, estimate: Double) {
        self.junction = junction
        self.road = road
        self.previous = previous
        self.cost = cost
        self.estimate = estimate
    }
}

struct StepHeap {
    private var items: [Step] = []

    mutating func push(_ step: Step) {
        items.append(step)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if items[parent].estimate <= items[child].estimate { break }
            items.swapAt(parent, child)
            child = parent
        }
    }

    mutating func pop() -> Step? {
        guard let last = items.popLast() else { return nil }
        guard let top = items.first else { return last }
        items[0] = last
        var parent = 0
        while true {
            let left = parent * 2 + 1
            guard left < items.count else { break }
            let right = left + 1
            let child = right < items.count && items[right].estimate < items[left].estimate ? right : left
            if items[parent].estimate <= items[child].estimate { break }
            items.swapAt(parent, child)
            parent = child
        }
        return top
    }
}

final class Route {
    let minutes: Double
    let kilometres: Double
    let streets: [String]

    init(_ last: Step) {
        minutes = last.cost
        var names: [String] = []
        var length = 0.0
        var current: Step? = last
        while let step = current {
            if let road = step.road {
                length += road.length
                if names.last != road.name { names.append(road.name) }
            }
            current = step.previous
        }
        kilometres = length
        streets = names.reversed()
    }
}

struct Planner {
    let map: RoadMap
    let topSpeed: Double

    func route(from: Int, to: Int) -> Route? {
        let goal = map.junctions[to]
        var heap = StepHeap()
        var settled = [Bool](repeating: false, count: map.junctions.count)
        let start = map.junctions[from]
        heap.push(Step(junction: start, road: nil, previous: nil, cost: 0, estimate: start.distance(to: goal) / topSpeed * 60))
        while let step = heap.pop() {
            if settled[step.junction.id] { continue }
            if step.junction === goal { return Route(step) }
            settled[step.junction.id] = true
            for road in step.junction.outgoing where road.isOpen && !settled[road.to.id] {
                let cost = step.cost + road.minutes
                heap.push(Step(junction: road.to, road: road, previous: step, cost: cost, estimate: cost + road.to.distance(to: goal) / topSpeed * 60))
            }
        }
        return nil
    }
}

struct Dice {
    var seed: UInt64
    mutating func roll(_ sides: Int) -> Int {
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        return Int(seed % UInt64(sides))
    }
}

func loadMap(size: Int, dice: inout Dice) -> RoadMap {
    let map = RoadMap()
    for row in 0..<size {
        for column in 0..<size {
            map.addJunction(x: Double(column) + Double(dice.roll(60)) / 100, y: Double(row) + Double(dice.roll(60)) / 100)
        }
    }
    for row in 0..<size {
        for column in 0..<size {
            let here = row * size + column
            if column + 1 < size { map.connect(here, here + 1, name: "\(row). Street", speed: row % 8 == 0 ? 100 : 50) }
            if row + 1 < size { map.connect(here, here + size, name: "\(column). Avenue", speed: column % 8 == 0 ? 80 : 40) }
        }
    }
    return map
}

var dice = Dice(seed: 0x1234_5678_9ABC_DEF1)
let size = 56
let map = loadMap(size: size, dice: &dice)
let planner = Planner(map: map, topSpeed: 100)
print("junctions \(map.junctions.count), roads \(map.roads.count)")

for round in 1...4 {
    var closed: [Road] = []
    for _ in 0..<(round * 90) {
        let road = map.roads[dice.roll(map.roads.count)]
        road.isOpen = false
        closed.append(road)
    }
    let cutOff = map.junctions.reduce(0) { $0 + ($1.openIncoming == 0 ? 1 : 0) }
    var found: [Route] = []
    for _ in 0..<112 {
        if let route = planner.route(from: dice.roll(size * size), to: dice.roll(size * size)) { found.append(route) }
    }
    let longest = found.max { $0.minutes < $1.minutes }!
    let average = found.reduce(0) { $0 + $1.minutes } / Double(found.count)
    print("round \(round): \(found.count) routes, average \(String(format: "%.1f", average)) min, longest \(String(format: "%.1f", longest.kilometres)) km over \(longest.streets.count) streets, cut off \(cutOff)")
    for road in closed { road.isOpen = true }
}
