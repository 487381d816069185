import Foundation

final class Stop {
    let id: Int
    fileprivate(set) var links: [Link] = []
    init(id: Int) { self.id = id }
}

final class Link {
    unowned let from: Stop
    unowned let to: Stop
    let minutes: Int
    init(from: Stop, to: Stop, minutes: Int) {
        self.from = from
        self.to = to
        self.minutes = minutes
    }
}

final class TransitGraph {
    private(set) var stops: [Stop] = []

    init(size: Int) {
        stops = (0..<size).map { Stop(id: $0) }
        for stop in stops {
            for offset in [1, 7, 31] {
                let target = stops[(stop.id + offset) % size]
                stop.links.append(Link(from: stop, to: target, minutes: 1 + (stop.id * offset) % 9))
            }
        }
    }
}

final class SearchState {
    var distance: [Int] = []
    func reset(_ count: Int) { distance = [Int](repeating: Int.max, count: count) }
}

final class SearchPool {
    private var idle: [SearchState] = []
    func acquire() -> SearchState { idle.popLast() ?? SearchState() }
    func release(_ state: SearchState) { idle.append(state) }
}

final class Route {
    let from: Int
    let to: Int
    let minutes: Int
    init(from: Int, to: Int, minutes: Int) {
        self.from = from
        self.to = to
        self.minutes = minutes
    }
}

final class RouteRing {
    private var slots: [Route?]
    private var next = 0
    init(capacity: Int) { slots = Array(repeating: nil, count: capacity) }
    func add(_ route: Route) {
        slots[next] = route
        next = (next + 1) % slots.count
    }
    var average: Int {
        let routes = slots.compactMap { $0 }
        return routes.isEmpty ? 0 : routes.reduce(0) { $0 + $1.minutes } / routes.count
    }
}

final class Planner {
    private let graph: TransitGraph
    private let pool = SearchPool()
    let recent = RouteRing(capacity: 32)

    init(graph: TransitGraph) { self.graph = graph }

    func plan(from: Int, to: Int) -> Int {
        let state = pool.acquire()
        defer { pool.release(state) }
        state.reset(graph.stops.count)
        state.distance[from] = 0
        var frontier = [graph.stops[from]]
        while let stop = frontier.popLast() {
            for link in stop.links {
                let distance = state.distance[stop.id] + link.minutes
                if distance < state.distance[link.to.id] && distance < 120 {
                    state.distance[link.to.id] = distance
                    frontier.insert(link.to, at: 0)
                }
            }
        }
        let minutes = state.distance[to]
        recent.add(Route(from: from, to: to, minutes: minutes == Int.max ? 0 : minutes))
        return minutes == Int.max ? 0 : minutes
    }
}

let planner = Planner(graph: TransitGraph(size: 300))
var total = 0
for query in 0..<120 {
    total += planner.plan(from: (query * 17) % 300, to: (query * 71 + 40) % 300)
}
print("minutes \(total) recent average \(planner.recent.average)")
