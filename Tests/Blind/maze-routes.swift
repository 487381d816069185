struct Cell: Hashable { let x: Int; let y: Int }

final class RouteNode {
    let cell: Cell
    let cost: Int
    let estimate: Int
    let parent: RouteNode?
    init(cell: Cell, cost: Int, estimate: Int, parent: RouteNode?) {
        self.cell = cell; self.cost = cost; self.estimate = estimate; self.parent = parent
    }
    var total: Int { cost + estimate }
}

final class OpenList {
    private var heap: [RouteNode] = []
    var count: Int { heap.count }
    func push(_ n: RouteNode) {
        heap.append(n)
        var i = heap.count - 1
        while i > 0 {
            let p = (i - 1) / 2
            if heap[p].total <= heap[i].total { break }
            heap.swapAt(p, i); i = p
        }
    }
    func pop() -> RouteNode? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first }
        heap[0] = last
        var i = 0
        while true {
            var m = i
            for c in [2 * i + 1, 2 * i + 2] where c < heap.count && heap[c].total < heap[m].total { m = c }
            if m == i { break }
            heap.swapAt(i, m); i = m
        }
        return first
    }
}

final class Maze {
    let size: Int
    var walls: Set<Cell> = []
    init(size: Int, seed: UInt64) {
        self.size = size
        var s = seed
        for y in 0..<size { for x in 0..<size {
            s = s &* 6364136223846793005 &+ 1442695040888963407
            if (s >> 33) % 100 < 22 && x + y > 2 && x + y < 2 * size - 4 { walls.insert(Cell(x: x, y: y)) }
        } }
    }
    func neighbours(_ c: Cell) -> [Cell] {
        [(1, 0), (0, 1), (-1, 0), (0, -1)].map { Cell(x: c.x + $0.0, y: c.y + $0.1) }
            .filter { $0.x >= 0 && $0.y >= 0 && $0.x < size && $0.y < size && !walls.contains($0) }
    }
}

final class PathFinder {
    let maze: Maze
    private(set) var open = OpenList()
    private(set) var closed: [Cell: RouteNode] = [:]
    init(maze: Maze) { self.maze = maze }

    func solve() -> Int? {
        let goal = Cell(x: maze.size - 1, y: maze.size - 1)
        open.push(RouteNode(cell: Cell(x: 0, y: 0), cost: 0, estimate: 2 * maze.size, parent: nil))
        while let node = open.pop() {
            if let old = closed[node.cell], old.cost <= node.cost { continue }
            closed[node.cell] = node
            if node.cell == goal { return node.cost }
            for n in maze.neighbours(node.cell) {
                let est = abs(goal.x - n.x) + abs(goal.y - n.y)
                let next = RouteNode(cell: n, cost: node.cost + 1, estimate: est, parent: node)
                if let old = closed[n], old.cost <= next.cost { continue }
                open.push(next)
            }
        }
        return nil
    }
}

var finder = PathFinder(maze: Maze(size: 30, seed: 1))
var lengths: [Int] = []
for round in 1...6 {
    finder = PathFinder(maze: Maze(size: 30, seed: UInt64(round * 77)))
    lengths.append(finder.solve() ?? -1)
}
print("routes \(lengths) open=\(finder.open.count) closed=\(finder.closed.count)")
