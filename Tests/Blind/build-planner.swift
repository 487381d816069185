import Foundation

// Build planner: reads target descriptions, orders them, decides from content
// hashes the outdated parts and simulates the build with several lanes.

struct TargetDescription {
    let name: String
    let sources: [String]
    let dependencies: [String]
}

final class BuildNode {
    let target: TargetDescription
    var hash: UInt64 = 0
    var upToDate = false
    var waiting = 0
    var dependents: [Int] = []
    init(_ target: TargetDescription) { self.target = target }
}

final class HashCache {
    private var hashes: [String: UInt64] = [:]
    private let limit = 3_000
    private(set) var hits = 0

    func hash(of text: String) -> UInt64 {
        if let known = hashes[text] {
            hits += 1
            return known
        }
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for _ in 0..<40 {
            for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        if hashes.count >= limit { hashes.removeAll(keepingCapacity: true) }
        hashes[text] = value
        return value
    }

    var count: Int { hashes.count }
}

protocol ExecutorDelegate: AnyObject {
    func executor(_ executor: Executor, didStart target: Int, lane: Int, at time: Int)
    func executor(_ executor: Executor, didFinish target: Int, at time: Int) -> [Int]
}

/// Runs ready targets on a fixed number of lanes in simulated time.
final class Executor {
    var delegate: ExecutorDelegate?
    private let lanes: Int
    private var busyUntil: [(target: Int, end: Int)?]
    private var ready: [(target: Int, cost: Int)] = []
    private(set) var time = 0

    init(lanes: Int) {
        self.lanes = lanes
        busyUntil = Array(repeating: nil, count: lanes)
    }

    func enqueue(_ target: Int, cost: Int) {
        let position = ready.firstIndex { $0.cost < cost } ?? ready.count
        ready.insert((target, cost), at: position)
    }

    func run(cost: (Int) -> Int) {
        while true {
            for lane in 0..<lanes where busyUntil[lane] == nil && !ready.isEmpty {
                let next = ready.removeFirst()
                busyUntil[lane] = (next.target, time + next.cost)
                delegate?.executor(self, didStart: next.target, lane: lane, at: time)
            }
            guard let soonest = busyUntil.compactMap({ $0?.end }).min() else { return }
            time = soonest
            for lane in 0..<lanes {
                guard let job = busyUntil[lane], job.end <= time else { continue }
                busyUntil[lane] = nil
                for target in delegate?.executor(self, didFinish: job.target, at: time) ?? [] { enqueue(target, cost: cost(target)) }
            }
        }
    }
}

struct BuildSummary {
    let built: Int, skipped: Int, makespan: Int, busiestLane: Int
}

enum PlanError: Error { case cycle, unknown(String) }

final class BuildPlan: ExecutorDelegate {
    private var nodes: [BuildNode] = []
    private var index: [String: Int] = [:]
    private let executor: Executor
    private var laneLoad: [Int]
    private var built = 0

    init(targets: [TargetDescription], lanes: Int) throws {
        executor = Executor(lanes: lanes)
        laneLoad = Array(repeating: 0, count: lanes)
        nodes = targets.map(BuildNode.init)
        for (number, target) in targets.enumerated() { index[target.name] = number }
        for (number, node) in nodes.enumerated() {
            for name in node.target.dependencies {
                guard let dependency = index[name] else { throw PlanError.unknown(name) }
                nodes[dependency].dependents.append(number)
                node.waiting += 1
            }
        }
        executor.delegate = self
    }

    private func topologicalOrder() throws -> [Int] {
        var counts = nodes.map(\.waiting)
        var order = nodes.indices.filter { counts[$0] == 0 }
        var cursor = 0
        while cursor < order.count {
            for dependent in nodes[order[cursor]].dependents {
                counts[dependent] -= 1
                if counts[dependent] == 0 { order.append(dependent) }
            }
            cursor += 1
        }
        guard order.count == nodes.count else { throw PlanError.cycle }
        return order
    }

    func execute(previous: [String: UInt64], cache: HashCache) throws -> (BuildSummary, [String: UInt64]) {
        var hashes: [String: UInt64] = [:]
        for number in try topologicalOrder() {
            let node = nodes[number]
            for source in node.target.sources { node.hash = node.hash &* 31 &+ cache.hash(of: source) }
            for name in node.target.dependencies { node.hash = node.hash &* 31 &+ nodes[index[name]!].hash }
            node.upToDate = previous[node.target.name] == node.hash
            hashes[node.target.name] = node.hash
        }
        for (number, node) in nodes.enumerated() where node.waiting == 0 { executor.enqueue(number, cost: cost(number)) }
        executor.run(cost: cost)
        let busiest = laneLoad.indices.max { laneLoad[$0] < laneLoad[$1] }!
        return (BuildSummary(built: built, skipped: nodes.count - built, makespan: executor.time, busiestLane: busiest), hashes)
    }

    private func cost(_ number: Int) -> Int { nodes[number].upToDate ? 0 : 1 + nodes[number].target.sources.count * 3 }

    func executor(_ executor: Executor, didStart target: Int, lane: Int, at time: Int) {
        laneLoad[lane] += cost(target)
        if !nodes[target].upToDate { built += 1 }
    }

    func executor(_ executor: Executor, didFinish target: Int, at time: Int) -> [Int] {
        nodes[target].dependents.filter { dependent in
            nodes[dependent].waiting -= 1
            return nodes[dependent].waiting == 0
        }
    }
}

/// A workspace whose sources change a little from one revision to the next.
func workspace(revision: Int, targets: Int) -> [TargetDescription] {
    (0..<targets).map { number in
        let sources = (0..<(3 + number % 7)).map { file -> String in
            let changed = (number * 31 + file * 7) % 997 == revision ? revision : 0
            return "target\(number)/file\(file).swift#\(changed)"
        }
        let dependencies = Set([number / 2, number / 3, number * 2 / 3]).filter { $0 < number }.sorted().map { "t\($0)" }
        return TargetDescription(name: "t\(number)", sources: sources, dependencies: dependencies)
    }
}

let cache = HashCache()
var hashes: [String: UInt64] = [:]
var built = 0, skipped = 0, longest = 0
var lanes: [Int: Int] = [:]
for revision in 1...300 {
    let plan = try BuildPlan(targets: workspace(revision: revision, targets: 420), lanes: 6)
    let (summary, updated) = try plan.execute(previous: hashes, cache: cache)
    hashes = updated
    built += summary.built
    skipped += summary.skipped
    longest = max(longest, summary.makespan)
    lanes[summary.busiestLane, default: 0] += 1
}
print("built \(built), skipped \(skipped), longest build \(longest), hashes \(cache.count) with \(cache.hits) hits")
print("busiest lanes: " + lanes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
