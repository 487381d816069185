import Foundation

final class Item {
    let weight: Int
    let value: Int
    init(weight: Int, value: Int) { self.weight = weight; self.value = value }
}

final class PartialLoad {
    let depth: Int
    let weight: Int
    let value: Int
    let bound: Double
    let chosen: [Int]
    init(depth: Int, weight: Int, value: Int, bound: Double, chosen: [Int]) {
        self.depth = depth; self.weight = weight; self.value = value; self.bound = bound; self.chosen = chosen
    }
}

final class BranchAndBound {
    let items: [Item]
    let capacity: Int
    private(set) var frontier: [PartialLoad] = []
    private(set) var seen: [String: PartialLoad] = [:]
    private(set) var best: PartialLoad?
    private(set) var pruned = 0

    init(items: [Item], capacity: Int) {
        self.items = items.sorted { $0.value * $1.weight > $1.value * $0.weight }
        self.capacity = capacity
    }

    private func bound(_ depth: Int, _ weight: Int, _ value: Int) -> Double {
        var room = capacity - weight
        var total = Double(value)
        for item in items[depth...] {
            if item.weight <= room { room -= item.weight; total += Double(item.value) }
            else { total += Double(item.value) * Double(room) / Double(item.weight); break }
        }
        return total
    }

    private func offer(_ n: PartialLoad) {
        guard n.weight <= capacity, n.bound > Double(best?.value ?? 0) else { pruned += 1; return }
        let key = "\(n.depth)/\(n.weight)"
        if let old = seen[key], old.value >= n.value { pruned += 1; return }
        seen[key] = n
        if n.value > (best?.value ?? 0) { best = n }
        if n.depth < items.count { frontier.append(n) }
    }

    func run(limit: Int) {
        offer(PartialLoad(depth: 0, weight: 0, value: 0, bound: bound(0, 0, 0), chosen: []))
        var expanded = 0
        while !frontier.isEmpty && expanded < limit {
            let i = expanded % 3 == 0 ? frontier.indices.max { frontier[$0].bound < frontier[$1].bound }! : frontier.count / 2
            let node = frontier.remove(at: i)
            expanded += 1
            let it = items[node.depth], d = node.depth + 1
            offer(PartialLoad(depth: d, weight: node.weight + it.weight, value: node.value + it.value,
                              bound: bound(d, node.weight + it.weight, node.value + it.value), chosen: node.chosen + [node.depth]))
            offer(PartialLoad(depth: d, weight: node.weight, value: node.value,
                              bound: bound(d, node.weight, node.value), chosen: node.chosen))
        }
    }
}

@main
struct Cargo {
    static var solver: BranchAndBound!
    static func main() {
        var seed = 17
        func next(_ n: Int) -> Int { seed = (seed &* 1103515245 &+ 12345) & 0x7fffffff; return (seed >> 8) % n }
        var report = ""
        for ship in 1...4 {
            let items = (0..<60).map { _ -> Item in
                let w = 30 + next(90)
                return Item(weight: w, value: w + next(60))
            }
            solver = BranchAndBound(items: items, capacity: 2000 + ship * 100)
            solver.run(limit: 150)
            report += " \(solver.best?.value ?? 0)"
        }
        print("best\(report) frontier \(solver.frontier.count) pruned \(solver.pruned)")
    }
}
