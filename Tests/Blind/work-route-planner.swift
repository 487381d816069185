import Foundation

final class Junction {
    let id: Int
    let x: Double
    let y: Double
    var roads: [Road] = []
    init(id: Int, x: Double, y: Double) {
        self.id = id
        self.x = x
        self.y = y
    }
    func distance(to other: Junction) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

final class Road {
    unowned let from: Junction
    unowned let to: Junction
    let cost: Double
    private(set) var travelled = 0
    init(from: Junction, to: Junction, cost: Double) {
        self.from = from
        self.to = to
        self.cost = cost
    }
    func travel() { travelled += 1 }
}

final class SearchNode {
    let junction: Junction
    let cost: Double
    let estimate: Double
    let parent: SearchNode?
    let road: Road?
    init(junction: Junction, cost: Double, estimate: Double, parent: SearchNode?, road: Road?) {
        self.junction = junction
        self.cost = cost
        self.estimate = estimate
        self.parent = parent
        self.road = road
    }
}

final class Closure {
    let road: Road
    let until: Int
    init(road: Road, until: Int) {
        self.road = road
        self.until = until
    }
}

final class RoadMap {
    private(set) var junctions: [Junction] = []
    private(set) var roads: [Road] = []

    init(width: Int, height: Int) {
        for row in 0..<height {
            for column in 0..<width {
                let wobble = Double((row * 31 + column * 17) % 10) / 20
                junctions.append(Junction(id: junctions.count, x: Double(column) + wobble, y: Double(row) - wobble))
            }
        }
        for row in 0..<height {
            for column in 0..<width {
                let here = junctions[row * width + column]
                if column + 1 < width { connect(here, junctions[row * width + column + 1]) }
                if row + 1 < height { connect(here, junctions[(row + 1) * width + column]) }
                if column + 2 < width && row + 1 < height && (row + column) % 4 == 0 {
                    connect(here, junctions[(row + 1) * width + column + 2])
                }
            }
        }
    }

    private func connect(_ a: Junction, _ b: Junction) {
        let cost = a.distance(to: b) * (1 + Double((a.id + b.id) % 7) / 10)
        for (from, to) in [(a, b), (b, a)] {
            let road = Road(from: from, to: to, cost: cost)
            from.roads.append(road)
            roads.append(road)
        }
    }
}

final class Planner {
    private let map: RoadMap
    private var closures: [Closure] = []
    private(set) var expanded = 0

    init(map: RoadMap) { self.map = map }

    func close(_ road: Road, until: Int) { closures.append(Closure(road: road, until: until)) }
    func reopen(now: Int) { closures.removeAll { $0.until <= now } }

    func route(_ from: Int, _ to: Int) -> [Road]? {
        let goal = map.junctions[to]
        let start = map.junctions[from]
        let blocked = Set(closures.map { ObjectIdentifier($0.road) })
        var open = [SearchNode(junction: start, cost: 0, estimate: start.distance(to: goal), parent: nil, road: nil)]
        var settled = Set<Int>()
        while let node = open.popLast() {
            guard settled.insert(node.junction.id).inserted else { continue }
            expanded += 1
            if node.junction === goal {
                var path: [Road] = []
                var cursor: SearchNode? = node
                while let step = cursor {
                    if let road = step.road { path.append(road) }
                    cursor = step.parent
                }
                return path.reversed()
            }
            for road in node.junction.roads where !settled.contains(road.to.id) {
                if blocked.contains(ObjectIdentifier(road)) { continue }
                let cost = node.cost + road.cost
                let next = SearchNode(junction: road.to, cost: cost, estimate: cost + road.to.distance(to: goal),
                                      parent: node, road: road)
                var low = 0
                var high = open.count
                while low < high {
                    let mid = (low + high) / 2
                    if open[mid].estimate > next.estimate { low = mid + 1 } else { high = mid }
                }
                open.insert(next, at: low)
            }
        }
        return nil
    }
}

func drive(trips: Int) {
    let map = RoadMap(width: 40, height: 30)
    let planner = Planner(map: map)
    var state: UInt64 = 1_000_001
    func draw(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }
    var kilometres = 0.0
    var failed = 0
    for trip in 0..<trips {
        if draw(5) == 0 { planner.close(map.roads[draw(map.roads.count)], until: trip + 30) }
        planner.reopen(now: trip)
        if let path = planner.route(draw(1_200), draw(1_200)) {
            for road in path {
                road.travel()
                kilometres += road.cost
            }
        } else {
            failed += 1
        }
        usleep(4_000)
    }
    let busiest = map.roads.max { $0.travelled < $1.travelled }!
    print(String(format: "%.0f km, %d failed, %d expanded", kilometres, failed, planner.expanded))
    print("busiest road \(busiest.from.id)-\(busiest.to.id) with \(busiest.travelled) passages")
}

drive(trips: 320)
