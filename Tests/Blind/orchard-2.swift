import Foundation

struct Cell: Hashable {
    let x: Int
    let y: Int
}

final class Critter {
    let id: Int
    var x: Double
    var y: Double
    var energy: Int
    var age = 0

    init(id: Int, x: Double, y: Double, energy: Int) {
        self.id = id
        self.x = x
        self.y = y
        self.energy = energy
    }

    var isAlive: Bool { energy > 0 }
    var cell: Cell { Cell(x: Int(x / 8), y: Int(y / 8)) }
}

final class Orchard {
    private(set) var population: [Critter] = []
    private var grid: [Cell: [Critter]] = [:]
    private var random: UInt64 = 91
    private var nextID = 0
    private(set) var born = 0
    private(set) var encounters = 0

    private func roll(_ bound: Int) -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return Int(random % UInt64(bound))
    }

    func hatch() {
        nextID += 1
        born += 1
        let critter = Critter(id: nextID, x: Double(roll(128)), y: Double(roll(128)), energy: 6 + nextID % 9)
        population.append(critter)
        place(critter)
    }

    private func place(_ critter: Critter) {
        grid[critter.cell, default: []].append(critter)
    }

    private func move(_ critter: Critter) {
        let origin = critter.cell
        critter.x = min(127, max(0, critter.x + Double(roll(9) - 4)))
        critter.y = min(127, max(0, critter.y + Double(roll(9) - 4)))
        let target = critter.cell
        if target != origin {
            grid[origin]?.removeAll { $0 === critter }
            place(critter)
        }
    }

    private func neighbours(of critter: Critter) -> Int {
        let nearby = grid[critter.cell] ?? []
        return nearby.lazy.filter { $0 !== critter && $0.isAlive }.count
    }

    func step() {
        for _ in 0..<9 { hatch() }
        for critter in population {
            move(critter)
            critter.age += 1
            critter.energy -= 1
            encounters += neighbours(of: critter)
        }
        population.removeAll { !$0.isAlive }
    }

    var averageAge: Double {
        guard !population.isEmpty else { return 0 }
        return Double(population.reduce(0) { $0 + $1.age }) / Double(population.count)
    }
}

let orchard = Orchard()
for season in 1...130 {
    orchard.step()
    if season % 2 == 0 {
        usleep(9_000)
    }
}
let age = String(format: "%.2f", orchard.averageAge)
print("orchard: born \(orchard.born), alive \(orchard.population.count), mean age \(age), encounters \(orchard.encounters > 0)")
