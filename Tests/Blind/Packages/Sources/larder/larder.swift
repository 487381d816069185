import Collections
import Foundation

/// A jar with its label and contents.
final class Jar {
    let label: String
    let filled: Int
    private(set) var opened = 0
    private var contents: [UInt8]

    init(label: String, filled: Int) {
        self.label = label
        self.filled = filled
        contents = [UInt8](repeating: UInt8(filled & 0xff), count: 200)
    }

    func taste() -> Int {
        opened += 1
        return contents.reduce(0) { $0 + Int($1) }
    }
}

struct ShelfMark: Hashable {
    let shelf: Int
    let place: Int
}

/// Holds the jars used last; the oldest makes room for a new one.
struct Larder {
    private var jars: OrderedDictionary<String, Jar> = [:]
    private var marks: [ShelfMark: Jar] = [:]
    private var free: Deque<ShelfMark> = []
    private var placed: [String: ShelfMark] = [:]
    private let capacity: Int
    private(set) var fetched = 0
    private(set) var stocked = 0
    private var nextShelf = 0

    init(capacity: Int) {
        self.capacity = capacity
        jars.reserveCapacity(capacity + 1)
    }

    mutating func jar(_ label: String, make: (String) -> Jar) -> Jar {
        fetched += 1
        if let jar = jars.removeValue(forKey: label) {
            jars[label] = jar
            return jar
        }
        let jar = make(label)
        stocked += 1
        let mark = nextMark()
        jars[label] = jar
        marks[mark] = jar
        placed[label] = mark
        if jars.count > capacity { removeOldest() }
        return jar
    }

    private mutating func nextMark() -> ShelfMark {
        if free.isEmpty { openShelf() }
        return free.removeFirst()
    }

    private mutating func openShelf() {
        for place in 0..<16 { free.append(ShelfMark(shelf: nextShelf, place: place)) }
        nextShelf += 1
    }

    private mutating func removeOldest() {
        let (label, _) = jars.removeFirst()
        placed.removeValue(forKey: label)
    }

    func find(_ mark: ShelfMark) -> Jar? { marks[mark] }
    var count: Int { jars.count }
}

struct Cook {
    var appetite = 17

    mutating func nextLabel(round: Int) -> String {
        appetite = (appetite * 31 + round) % 65_521
        // One jar in three is a favourite, all others are wanted once only.
        return round % 3 == 0 ? "honey \(appetite % 20)" : "season \(round)"
    }
}

/// Days pass; every day the cook wants some jars.
func keepHouse(days: Int, larder: inout Larder) -> Int {
    var cook = Cook()
    var taste = 0
    var round = 0
    for _ in 0..<days {
        for _ in 0..<30 {
            let label = cook.nextLabel(round: round)
            let jar = larder.jar(label) { Jar(label: $0, filled: round) }
            taste = (taste + jar.taste()) % 1_000_003
            round += 1
        }
        usleep(15_000)
    }
    return taste
}

@main
struct LarderApp {
    static var larder = Larder(capacity: 100)

    static func main() {
        let taste = keepHouse(days: 60, larder: &larder)
        usleep(500_000)
        let front = larder.find(ShelfMark(shelf: 0, place: 0))?.label ?? "nothing"
        print("\(larder.fetched) wishes, \(larder.count) jars at hand, \(front) in front, taste \(taste)")
    }
}
