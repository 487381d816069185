// A county road network that is extended village by village; travel times are recomputed now and then.
import Foundation

final class Junction {
    let id: Int
    let name: String
    private(set) var roads: [Road] = []

    init(id: Int, name: String) {
        self.id = id
        self.name = name
    }

    func attach(_ road: Road) {
        roads.append(road)
    }
}

class Road {
    unowned let a: Junction
    unowned let b: Junction
    let metres: Int

    init(_ a: Junction, _ b: Junction, metres: Int) {
        self.a = a
        self.b = b
        self.metres = metres
    }

    var speed: Int { 50 }
    var seconds: Int { metres * 36 / (speed * 10) }

    func other(than junction: Junction) -> Junction {
        a === junction ? b : a
    }
}

final class Highway: Road {
    override var speed: Int { 110 }
}

struct Heap {
    private var items: [(cost: Int, id: Int)] = []

    var isEmpty: Bool { items.isEmpty }

    mutating func push(_ cost: Int, _ id: Int) {
        items.append((cost, id))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if items[parent].cost <= items[child].cost { break }
            items.swapAt(parent, child)
            child = parent
        }
    }

    mutating func pop() -> (cost: Int, id: Int) {
        let top = items[0]
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2] where child < items.count && items[child].cost < items[least].cost {
                    least = child
                }
                if least == parent { break }
                items.swapAt(parent, least)
                parent = least
            }
        }
        return top
    }
}

final class Network {
    private(set) var junctions: [Junction] = []
    private(set) var roadCount = 0

    func addJunction() -> Junction {
        let junction = Junction(id: junctions.count, name: "J\(junctions.count)")
        junctions.append(junction)
        return junction
    }

    func connect(_ a: Junction, _ b: Junction, metres: Int, highway: Bool) {
        let road = highway ? Highway(a, b, metres: metres) : Road(a, b, metres: metres)
        a.attach(road)
        b.attach(road)
        roadCount += 1
    }

    func travelTime(from start: Junction, to goal: Junction) -> Int? {
        var best = [Int](repeating: .max, count: junctions.count)
        var heap = Heap()
        best[start.id] = 0
        heap.push(0, start.id)
        while !heap.isEmpty {
            let (cost, id) = heap.pop()
            if id == goal.id { return cost }
            if cost > best[id] { continue }
            let here = junctions[id]
            for road in here.roads {
                let next = road.other(than: here)
                let total = cost + road.seconds
                if total < best[next.id] {
                    best[next.id] = total
                    heap.push(total, next.id)
                }
            }
        }
        return nil
    }
}

let network = Network()
var state = 17
func draw(_ bound: Int) -> Int {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
}

var previous = network.addJunction()
var checks = 0
var timeSum = 0
for step in 1..<1500 {
    let junction = network.addJunction()
    network.connect(previous, junction, metres: 400 + draw(3_000), highway: step % 11 == 0)
    if step % 3 == 0 {
        let older = network.junctions[draw(step)]
        network.connect(junction, older, metres: 800 + draw(9_000), highway: false)
    }
    previous = step % 5 == 0 ? network.junctions[draw(step)] : junction
    if step % 60 == 0 {
        let start = network.junctions[draw(max(1, step / 10))]
        if let seconds = network.travelTime(from: start, to: junction) {
            checks += 1
            timeSum += seconds
        }
        usleep(5_000)
    }
}

print("junctions \(network.junctions.count), roads \(network.roadCount)")
print("checks \(checks), mean travel time \(timeSum / max(1, checks)) s")
let busiest = network.junctions.max { $0.roads.count < $1.roads.count }!
print("busiest junction \(busiest.name) with \(busiest.roads.count) roads")
print("from J0 to J1499: \(network.travelTime(from: network.junctions[0], to: network.junctions[1499]) ?? -1) s")
