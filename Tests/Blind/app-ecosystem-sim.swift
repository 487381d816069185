import Foundation

class Creature {
    let born: Int
    var energy: Int
    var x: Int
    var y: Int
    init(born: Int, energy: Int, x: Int, y: Int) {
        self.born = born
        self.energy = energy
        self.x = x
        self.y = y
    }
    var hunger: Int { 1 }
    var maximumAge: Int { 40 }
    func offspring(at tick: Int) -> Creature? { nil }
    func isDead(at tick: Int) -> Bool { energy <= 0 || tick - born > maximumAge }
}

final class Rabbit: Creature {
    override var hunger: Int { 2 }
    override func offspring(at tick: Int) -> Creature? {
        guard energy > 22 else { return nil }
        energy -= 12
        return Rabbit(born: tick, energy: 10, x: x, y: y)
    }
}

final class Fox: Creature {
    override var hunger: Int { 3 }
    override var maximumAge: Int { 90 }
    override func offspring(at tick: Int) -> Creature? {
        guard energy > 70 else { return nil }
        energy -= 35
        return Fox(born: tick, energy: 30, x: x, y: y)
    }
}

final class Turtle: Creature {
    override var hunger: Int { 0 }
    override var maximumAge: Int { 100_000 }
}

final class Meadow {
    private var grass: [[Int]]
    let size: Int
    init(size: Int) {
        self.size = size
        grass = Array(repeating: Array(repeating: 5, count: size), count: size)
    }
    func grow() {
        for x in 0..<size { for y in 0..<size where grass[x][y] < 9 { grass[x][y] += 1 } }
    }
    func graze(_ x: Int, _ y: Int) -> Int {
        let eaten = min(grass[x][y], 4)
        grass[x][y] -= eaten
        return eaten
    }
}

final class YearBook {
    final class Entry {
        let tick: Int
        let rabbits: Int
        let foxes: Int
        init(tick: Int, rabbits: Int, foxes: Int) {
            self.tick = tick
            self.rabbits = rabbits
            self.foxes = foxes
        }
    }
    private var entries: [Entry] = []
    func note(tick: Int, rabbits: Int, foxes: Int) {
        entries.append(Entry(tick: tick, rabbits: rabbits, foxes: foxes))
    }
    func chart() -> [String] {
        let top = entries.map(\.rabbits).max() ?? 1
        return stride(from: 0, to: entries.count, by: 40).map { index in
            let entry = entries[index]
            let bar = String(repeating: "#", count: entry.rabbits * 40 / max(1, top))
            return "\(entry.tick)\t\(bar) \(entry.foxes)"
        }
    }
}

final class World {
    private var creatures: [Creature] = []
    private let meadow = Meadow(size: 24)
    private let yearBook = YearBook()
    private var seed: UInt64 = 31_337
    private(set) var deaths = 0

    private func random(_ n: Int) -> Int {
        seed = seed &* 2862933555777941757 &+ 3037000493
        return Int((seed >> 32) % UInt64(n))
    }

    func settle() {
        for _ in 0..<120 { creatures.append(Rabbit(born: -random(30), energy: 12, x: random(24), y: random(24))) }
        for _ in 0..<12 { creatures.append(Fox(born: -random(30), energy: 40, x: random(24), y: random(24))) }
        for _ in 0..<5 { creatures.append(Turtle(born: 0, energy: 1000, x: random(24), y: random(24))) }
    }

    func step(_ tick: Int) {
        meadow.grow()
        var cells: [Int: [Rabbit]] = [:]
        for creature in creatures {
            creature.x = (creature.x + random(3) - 1 + meadow.size) % meadow.size
            creature.y = (creature.y + random(3) - 1 + meadow.size) % meadow.size
            creature.energy -= creature.hunger
            if let rabbit = creature as? Rabbit {
                rabbit.energy += meadow.graze(rabbit.x, rabbit.y)
                cells[rabbit.x * meadow.size + rabbit.y, default: []].append(rabbit)
            }
        }
        var young: [Creature] = []
        for creature in creatures {
            if let fox = creature as? Fox, let prey = cells[fox.x * meadow.size + fox.y]?.popLast(), prey.energy > 0 {
                prey.energy = 0
                fox.energy += 14
            }
            if !creature.isDead(at: tick), creatures.count < 1500, let child = creature.offspring(at: tick) { young.append(child) }
        }
        let before = creatures.count
        creatures.removeAll { $0.isDead(at: tick) }
        deaths += before - creatures.count
        creatures.append(contentsOf: young)
        if random(10) == 0 {
            creatures.append(Fox(born: tick, energy: 30, x: random(24), y: random(24)))
            creatures.append(Rabbit(born: tick, energy: 15, x: random(24), y: random(24)))
        }
        yearBook.note(tick: tick, rabbits: creatures.filter { $0 is Rabbit }.count, foxes: creatures.filter { $0 is Fox }.count)
    }

    func finish() {
        yearBook.chart().forEach { print($0) }
        print("alive \(creatures.count), deaths \(deaths), turtles \(creatures.filter { $0 is Turtle }.count)")
    }
}

let world = World()
world.settle()
for tick in 0..<500 {
    world.step(tick)
    usleep(3000)
}
world.finish()
