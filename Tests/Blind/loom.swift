import Foundation

protocol ShuttleOwner: AnyObject {
    func shuttle(_ shuttle: Shuttle, didFinishRow row: Int)
    func shuttleRanOut(_ shuttle: Shuttle)
}

/// Carries the weft thread through the shed of a loom.
final class Shuttle {
    var owner: ShuttleOwner?
    private var thread: Int
    private(set) var rows = 0

    init(thread: Int) { self.thread = thread }

    func pass(width: Int) {
        guard thread >= width else {
            owner?.shuttleRanOut(self)
            return
        }
        thread -= width
        rows += 1
        owner?.shuttle(self, didFinishRow: rows)
    }

    func refill(_ amount: Int) { thread += amount }
}

struct Pattern {
    let name: String
    let width: Int
    let rows: Int
    let draft: [UInt8]
}

final class Loom: ShuttleOwner {
    let pattern: Pattern
    private let shuttle: Shuttle
    private var cloth: [UInt8] = []
    private(set) var refills = 0

    init(pattern: Pattern) {
        self.pattern = pattern
        shuttle = Shuttle(thread: pattern.width * 9)
        shuttle.owner = self
    }

    func weave() -> Int {
        while cloth.count < pattern.rows {
            shuttle.pass(width: pattern.width)
        }
        return cloth.reduce(0) { $0 &+ Int($1) }
    }

    func shuttle(_ shuttle: Shuttle, didFinishRow row: Int) {
        cloth.append(pattern.draft[row % pattern.draft.count])
    }

    func shuttleRanOut(_ shuttle: Shuttle) {
        refills += 1
        shuttle.refill(pattern.width * 12)
    }
}

final class WeavingHall {
    private(set) var bolts = 0
    private(set) var refills = 0
    private(set) var checksum = 0

    func produce(_ pattern: Pattern) {
        let loom = Loom(pattern: pattern)
        checksum &+= loom.weave()
        refills += loom.refills
        bolts += 1
    }
}

func patterns() -> [Pattern] {
    let names = ["herringbone", "twill", "basket", "satin", "huck"]
    return names.enumerated().map { index, name in
        Pattern(name: name, width: 40 + index * 12, rows: 60 + index * 5,
                draft: name.utf8.map { $0 & 0x1f })
    }
}

let hall = WeavingHall()
let book = patterns()
for order in 0..<150 {
    hall.produce(book[order % book.count])
    if order % 6 == 0 { Thread.sleep(forTimeInterval: 0.012) }
}
print("wove \(hall.bolts) bolts, \(hall.refills) refills, checksum \(hall.checksum)")
