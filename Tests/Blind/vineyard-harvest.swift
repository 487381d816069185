import Foundation

enum Grape: String, CaseIterable {
    case riesling, gamay, assyrtiko
}

final class PickResult {
    let row: Int
    let grape: Grape
    let crates: Int
    let brix: Double
    let picker: String

    init(row: Int, grape: Grape, crates: Int, brix: Double, picker: String) {
        self.row = row
        self.grape = grape
        self.crates = crates
        self.brix = brix
        self.picker = picker
    }

    var kilograms: Int { crates * 18 }
}

final class Crew {
    private let pickers: [String]
    private var turn = 0

    init(_ pickers: [String]) {
        self.pickers = pickers
    }

    func pick(row: Int, grape: Grape, day: Int) -> PickResult {
        let picker = pickers[turn % pickers.count]
        turn += 1
        let crates = 6 + (row * 5 + day * 3) % 9
        let brix = 19.0 + Double((row * 7 + day * 11) % 50) / 10
        return PickResult(row: row, grape: grape, crates: crates, brix: brix, picker: picker)
    }
}

final class Weighbridge {
    private(set) var loads = 0
    private(set) var kilograms = 0
    private var inside: Set<Int> = []

    func enter(_ truck: Int) { inside.insert(truck) }
    func leave(_ truck: Int, kilograms: Int) {
        inside.remove(truck)
        self.kilograms += kilograms
        loads += 1
    }
}

let crew = Crew(["Amadou", "Beatriz", "Csilla", "Domenico", "Ewa", "Farid"])
let bridge = Weighbridge()
var results: [PickResult] = []

for day in 0..<24 {
    var load = 0
    for row in 0..<45 {
        let grape = Grape.allCases[(row / 15) % 3]
        let result = crew.pick(row: row, grape: grape, day: day)
        results.append(result)
        load += result.kilograms
        if load > 2_000 {
            bridge.enter(day * 100 + row)
            bridge.leave(day * 100 + row, kilograms: load)
            load = 0
        }
    }
    if load > 0 {
        bridge.enter(day * 100 + 99)
        bridge.leave(day * 100 + 99, kilograms: load)
    }
}

print("rows picked: \(results.count), loads: \(bridge.loads), weighed: \(bridge.kilograms) kg")
for grape in Grape.allCases {
    let mine = results.filter { $0.grape == grape }
    let kilograms = mine.reduce(0) { $0 + $1.kilograms }
    let sugar = mine.reduce(0.0) { $0 + $1.brix * Double($1.kilograms) } / Double(kilograms)
    let ripest = mine.max { ($0.brix, $1.row) < ($1.brix, $0.row) }!
    print(String(format: "%@: %d kg at %.2f brix, ripest row %d (%.1f)", grape.rawValue, kilograms, sugar, ripest.row, ripest.brix))
}
let byPicker = Dictionary(grouping: results, by: \.picker).mapValues { $0.reduce(0) { $0 + $1.crates } }
for (picker, crates) in byPicker.sorted(by: { $0.key < $1.key }) {
    print("\(picker): \(crates) crates")
}
