final class SearchNode {
    let state: Int
    let depth: Int
    let via: Character
    init(state: Int, depth: Int, via: Character) { self.state = state; self.depth = depth; self.via = via }
}

final class NodeQueue {
    private var items: [SearchNode] = []
    private var head = 0
    var isEmpty: Bool { head == items.count }
    var count: Int { items.count - head }
    func push(_ n: SearchNode) { items.append(n) }
    func pop() -> SearchNode {
        let n = items[head]
        head += 1
        if head == 256 { items.removeFirst(head); head = 0 }
        return n
    }
    func clear() { items = []; head = 0 }
}

final class NumberLadder {
    private let queue = NodeQueue()
    private var visited: Set<Int> = []
    private var trace: [SearchNode] = []
    private(set) var solved = 0
    private(set) var expanded = 0

    private func reset() {
        queue.clear()
        visited.removeAll()
    }

    private func moves(_ n: SearchNode) -> [SearchNode] {
        [("d", n.state * 2), ("p", n.state + 7), ("m", n.state - 3), ("t", n.state * 3 + 1)]
            .filter { $0.1 >= 0 && $0.1 < 10_000_000 }
            .map { SearchNode(state: $0.1, depth: n.depth + 1, via: $0.0) }
    }

    func search(from start: Int, to goal: Int, limit: Int) -> Int? {
        reset()
        queue.push(SearchNode(state: start, depth: 0, via: "s"))
        visited.insert(start)
        var steps = 0
        while !queue.isEmpty && steps < limit {
            let node = queue.pop()
            steps += 1
            expanded += 1
            trace.append(node)
            if node.state == goal { solved += 1; return node.depth }
            for next in moves(node) where visited.insert(next.state).inserted {
                queue.push(next)
            }
        }
        return nil
    }
}

let ladder = NumberLadder()
var missed = 0
for round in 0..<8 {
    let start = 100 + round * 31
    // goal is too far for the limit of 400 expansions
    if ladder.search(from: start, to: 9_999_991, limit: 400) == nil { missed += 1 }
}
print("ladder solved \(ladder.solved) missed \(missed) expanded \(ladder.expanded)")
