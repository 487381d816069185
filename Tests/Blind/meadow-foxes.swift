// Population model of a meadow: rabbits eat clover, foxes eat rabbits, everything ages.

struct Lcg {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}

class Creature {
    let id: Int
    var cell: Int
    var age = 0
    var energy: Int
    var alive = true

    init(id: Int, cell: Int, energy: Int) {
        self.id = id
        self.cell = cell
        self.energy = energy
    }

    var lifespan: Int { 20 }

    func live(in meadow: Meadow) {
        age += 1
        energy -= 1
        if age > lifespan || energy <= 0 {
            alive = false
        }
    }
}

final class Rabbit: Creature {
    override var lifespan: Int { 40 }

    override func live(in meadow: Meadow) {
        super.live(in: meadow)
        guard alive else { return }
        cell = meadow.neighbour(of: cell)
        energy += meadow.graze(cell)
        if energy > 14 && age > 3 {
            energy -= 8
            meadow.addRabbit(at: cell, energy: 6)
        }
    }
}

final class Fox: Creature {
    override var lifespan: Int { 60 }

    override func live(in meadow: Meadow) {
        super.live(in: meadow)
        guard alive else { return }
        cell = meadow.neighbour(of: cell)
        if let prey = meadow.rabbit(at: cell) {
            prey.alive = false
            energy += 6
        }
        if energy > 40 && age > 10 {
            energy -= 20
            meadow.addFox(at: cell, energy: 15)
        }
    }
}

final class Meadow {
    let width: Int
    private var clover: [Int]
    private var creatures: [Creature] = []
    private var newborn: [Creature] = []
    private var rabbitsByCell: [Int: [Rabbit]] = [:]
    private var random: Lcg
    private var nextId = 1
    private(set) var births = 0
    private(set) var deaths = 0

    init(width: Int, seed: UInt64) {
        self.width = width
        clover = Array(repeating: 20, count: width * width)
        random = Lcg(state: seed)
    }

    func addRabbit(at cell: Int, energy: Int) {
        newborn.append(Rabbit(id: nextId, cell: cell, energy: energy))
        nextId += 1
    }

    func addFox(at cell: Int, energy: Int) {
        newborn.append(Fox(id: nextId, cell: cell, energy: energy))
        nextId += 1
    }

    func seed(rabbits: Int, foxes: Int) {
        for _ in 0..<rabbits { addRabbit(at: random.next(width * width), energy: 8) }
        for _ in 0..<foxes { addFox(at: random.next(width * width), energy: 20) }
    }

    func neighbour(of cell: Int) -> Int {
        let x = (cell % width + random.next(3) + width - 1) % width
        let y = (cell / width + random.next(3) + width - 1) % width
        return y * width + x
    }

    func graze(_ cell: Int) -> Int {
        let bite = min(3, clover[cell])
        clover[cell] -= bite
        return bite
    }

    func rabbit(at cell: Int) -> Rabbit? {
        rabbitsByCell[cell]?.first { $0.alive && $0.cell == cell }
    }

    func day() {
        creatures.append(contentsOf: newborn)
        births += newborn.count
        newborn.removeAll()
        rabbitsByCell.removeAll()
        for case let rabbit as Rabbit in creatures {
            rabbitsByCell[rabbit.cell, default: []].append(rabbit)
        }
        for creature in creatures where creature.alive {
            creature.live(in: self)
        }
        rabbitsByCell.removeAll()
        let before = creatures.count
        creatures.removeAll { !$0.alive }
        deaths += before - creatures.count
        for cell in clover.indices where clover[cell] < 20 {
            clover[cell] += 1
        }
    }

    func census() -> (rabbits: Int, foxes: Int, oldest: Int) {
        let foxes = creatures.reduce(0) { $0 + ($1 is Fox ? 1 : 0) }
        let oldest = creatures.map(\.age).max() ?? 0
        return (creatures.count - foxes, foxes, oldest)
    }
}

let meadow = Meadow(width: 44, seed: 2024)
meadow.seed(rabbits: 60, foxes: 5)
for day in 1...120 {
    meadow.day()
    if day % 20 == 0 {
        let now = meadow.census()
        print("day \(day): \(now.rabbits) rabbits, \(now.foxes) foxes, oldest \(now.oldest)")
    }
}
print("births \(meadow.births), deaths \(meadow.deaths)")
