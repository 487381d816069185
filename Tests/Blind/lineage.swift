import Foundation

/// A horse in a pedigree chart, with the foals that descend from it.
final class Horse {
    let name: String
    let born: Int
    weak var dam: Horse?
    private(set) var foals: [Horse] = []
    private var marks: [String] = []

    init(name: String, born: Int) {
        self.name = name
        self.born = born
    }

    func add(_ foal: Horse) {
        foal.dam = self
        foals.append(foal)
    }

    func mark(_ text: String) { marks.append(text) }

    var generation: Int {
        var depth = 0
        var cursor = dam
        while let current = cursor {
            depth += 1
            cursor = current.dam
        }
        return depth
    }

    var oldestAncestor: Horse {
        var current = self
        while let next = current.dam { current = next }
        return current
    }
}

struct Breeder {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }

    mutating func roll(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    mutating func pedigree(_ stud: Int) -> Horse {
        let founder = Horse(name: "S\(stud)", born: 1900 + stud % 40)
        var front = [founder]
        for _ in 0..<4 {
            var next: [Horse] = []
            for mare in front {
                for index in 0..<(1 + roll(3)) {
                    let foal = Horse(name: mare.name + ".\(index)", born: mare.born + 5 + roll(9))
                    mare.add(foal)
                    next.append(foal)
                }
            }
            front = next
        }
        return founder
    }
}

struct StudReport {
    var horses = 0
    var deepest = 0
    var youngest = 0

    mutating func visit(_ horse: Horse, founder: Horse) {
        horses += 1
        deepest = max(deepest, horse.generation)
        youngest = max(youngest, horse.born)
        if horse.oldestAncestor === founder { horse.mark("line of \(founder.name)") }
        for foal in horse.foals { visit(foal, founder: founder) }
    }
}

var breeder = Breeder(seed: 77)
var total = StudReport()
for stud in 0..<160 {
    let founder = breeder.pedigree(stud)
    var report = StudReport()
    report.visit(founder, founder: founder)
    total.horses += report.horses
    total.deepest = max(total.deepest, report.deepest)
    total.youngest = max(total.youngest, report.youngest)
    if stud % 8 == 0 { Thread.sleep(forTimeInterval: 0.018) }
}
print("160 studs, \(total.horses) horses, \(total.deepest) generations, youngest \(total.youngest)")
