import Foundation

struct Spot: Hashable, Sendable {
    let column: Int
    let row: Int
}

final class Load: Sendable {
    let sku: String
    let weight: Int
    init(sku: String, weight: Int) {
        self.sku = sku
        self.weight = weight
    }
}

final class Route: @unchecked Sendable {
    let id: Int
    let load: Load
    var path: [Spot]
    init(id: Int, load: Load, path: [Spot]) {
        self.id = id
        self.load = load
        self.path = path
    }
}

actor Grid {
    private var claims: [Spot: [Route]] = [:]
    private(set) var delivered = 0
    private(set) var reroutes = 0
    private(set) var weight = 0

    func claim(_ route: Route) {
        for spot in route.path { claims[spot, default: []].append(route) }
    }

    func congestion(at spot: Spot) -> Int { claims[spot]?.count ?? 0 }

    func reroute(_ route: Route, from index: Int, to detour: [Spot]) {
        reroutes += 1
        let kept = Array(route.path.prefix(index))
        route.path = kept + detour
        for spot in detour { claims[spot, default: []].append(route) }
    }

    func complete(_ route: Route) {
        for spot in route.path {
            claims[spot]?.removeAll { $0 === route }
            if claims[spot]?.isEmpty == true { claims[spot] = nil }
        }
        delivered += 1
        weight += route.load.weight
    }
}

struct Robot: Sendable {
    let lane: Int
    let grid: Grid

    func straightPath(to row: Int) -> [Spot] {
        (0..<6).map { Spot(column: lane * 10 + $0, row: row) }
    }

    func carry(_ id: Int) async {
        let route = Route(id: id, load: Load(sku: "sku-\(id % 60)", weight: 3 + id % 9), path: straightPath(to: id % 15))
        await grid.claim(route)
        for index in 0..<6 {
            if index == 3 && id % 10 == 4 {
                let detour = (3..<6).map { Spot(column: lane * 10 + $0, row: 20 + id % 5) }
                await grid.reroute(route, from: index, to: detour)
            }
            if await grid.congestion(at: route.path[index]) > 3 {
                try? await Task.sleep(nanoseconds: 200_000)
            }
        }
        try? await Task.sleep(nanoseconds: 8_000_000)
        await grid.complete(route)
    }
}

let grid = Grid()

@main
struct Warehouse {
    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    let robot = Robot(lane: lane, grid: grid)
                    for n in 0..<120 { await robot.carry(lane * 1000 + n) }
                }
            }
        }
        print("delivered \(await grid.delivered), rerouted \(await grid.reroutes)")
        print("weight moved \(await grid.weight)")
    }
}
