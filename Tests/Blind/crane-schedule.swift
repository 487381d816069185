final class CraneMove {
    let container: Int
    let priority: Int
    fileprivate var index = -1

    init(container: Int, priority: Int) {
        self.container = container
        self.priority = priority
    }

    func precedes(_ other: CraneMove) -> Bool {
        priority == other.priority ? container < other.container : priority > other.priority
    }
}

struct MoveQueue {
    private var heap: [CraneMove] = []

    var count: Int { heap.count }

    mutating func push(_ move: CraneMove) {
        move.index = heap.count
        heap.append(move)
        lift(move.index)
    }

    mutating func pop() -> CraneMove? {
        guard let first = heap.first else { return nil }
        remove(first)
        return first
    }

    mutating func remove(_ move: CraneMove) {
        let hole = move.index
        guard hole >= 0, hole < heap.count, heap[hole] === move else { return }
        let last = heap.removeLast()
        move.index = -1
        if last === move { return }
        heap[hole] = last
        last.index = hole
        lift(hole)
        sink(last.index)
    }

    private mutating func lift(_ start: Int) {
        var at = start
        while at > 0, heap[at].precedes(heap[(at - 1) / 2]) {
            exchange(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var at = start
        while true {
            var best = at
            let left = 2 * at + 1
            if left < heap.count, heap[left].precedes(heap[best]) { best = left }
            if left + 1 < heap.count, heap[left + 1].precedes(heap[best]) { best = left + 1 }
            if best == at { return }
            exchange(at, best)
            at = best
        }
    }

    private mutating func exchange(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        heap[a].index = a
        heap[b].index = b
    }
}

final class Terminal {
    private var queue = MoveQueue()
    private var announced: [Int: CraneMove] = [:]
    private(set) var lifted = 0
    private(set) var withdrawn = 0
    private(set) var peak = 0
    private(set) var checksum = 0

    func announce(container: Int, priority: Int) {
        let move = CraneMove(container: container, priority: priority)
        announced[container] = move
        queue.push(move)
        peak = max(peak, queue.count)
    }

    func withdraw(container: Int) {
        guard let move = announced.removeValue(forKey: container) else { return }
        queue.remove(move)
        withdrawn += 1
    }

    func work(cranes: Int) {
        for _ in 0..<cranes {
            guard let move = queue.pop() else { return }
            announced[move.container] = nil
            lifted += 1
            checksum = (checksum &* 17 &+ move.container) & 0xff_ffff
        }
    }

    var isIdle: Bool { queue.count == 0 }
}

let terminal = Terminal()
var nextContainer = 1
var hours = 0

for hour in 0..<200 {
    let arrivals = hour < 120 ? 9 : 3
    for slot in 0..<arrivals {
        terminal.announce(container: nextContainer, priority: (nextContainer * 13 + slot) % 10)
        nextContainer += 1
    }
    if hour % 2 == 1 {
        terminal.withdraw(container: max(1, nextContainer - 5))
    }
    terminal.work(cranes: 6)
    hours += 1
}
while !terminal.isIdle {
    terminal.work(cranes: 6)
    hours += 1
}

print("containers lifted: \(terminal.lifted), withdrawn: \(terminal.withdrawn)")
print("hours: \(hours), longest queue: \(terminal.peak), checksum: \(terminal.checksum)")
