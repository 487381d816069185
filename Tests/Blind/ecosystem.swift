import Foundation

// Foxes and rabbits on a torus. Both populations rise and fall; animals live
// in their own cell.

struct Position: Hashable {
    var x: Int
    var y: Int
}

class Animal {
    var position: Position
    var energy: Int
    var age = 0
    weak var mother: Animal?

    init(position: Position, energy: Int, mother: Animal?) {
        self.position = position
        self.energy = energy
        self.mother = mother
    }

    var isAlive: Bool { energy > 0 && age < maximumAge }
    var maximumAge: Int { 100 }
    func act(in world: World) {}
}

final class Rabbit: Animal {
    override var maximumAge: Int { 60 }

    override func act(in world: World) {
        age += 1
        energy -= 2
        world.move(self, to: world.neighbour(of: position))
        energy += world.graze(at: position)
        if energy > 26 {
            energy /= 2
            world.spawn(Rabbit(position: position, energy: energy, mother: self))
        }
    }
}

final class Fox: Animal {
    override var maximumAge: Int { 90 }

    override func act(in world: World) {
        age += 1
        energy -= 3
        world.move(self, to: world.nearestPrey(around: position) ?? world.neighbour(of: position))
        if let rabbit = world.prey(at: position) {
            energy += min(rabbit.energy, 18)
            rabbit.energy = 0
        }
        if energy > 70 {
            energy /= 2
            world.spawn(Fox(position: position, energy: energy, mother: self))
        }
    }
}

final class Cell {
    var grass = 10
    var occupants: [Animal] = []
}

final class World {
    let size: Int
    private var cells: [Cell]
    private var animals: [Animal] = []
    private var newborn: [Animal] = []
    private(set) var births = 0
    private(set) var deaths = 0
    private(set) var withLivingMother = 0
    private var seed: UInt64

    init(size: Int, seed: UInt64) {
        self.size = size
        self.seed = seed
        cells = (0..<size * size).map { _ in Cell() }
    }

    func random(_ bound: Int) -> Int {
        seed ^= seed << 7
        seed ^= seed >> 9
        return Int(seed % UInt64(bound))
    }

    private func cell(_ p: Position) -> Cell { cells[p.y * size + p.x] }

    private func wrap(_ x: Int, _ y: Int) -> Position { Position(x: (x + size) % size, y: (y + size) % size) }

    func neighbour(of p: Position) -> Position { wrap(p.x + random(3) - 1, p.y + random(3) - 1) }

    func nearestPrey(around p: Position) -> Position? {
        for dy in -1...1 {
            for dx in -1...1 {
                let candidate = wrap(p.x + dx, p.y + dy)
                if prey(at: candidate) != nil { return candidate }
            }
        }
        return nil
    }

    func prey(at p: Position) -> Rabbit? {
        for case let rabbit as Rabbit in cell(p).occupants where rabbit.isAlive { return rabbit }
        return nil
    }

    func graze(at p: Position) -> Int {
        let patch = cell(p)
        let eaten = min(patch.grass, 5)
        patch.grass -= eaten
        return eaten
    }

    func move(_ animal: Animal, to target: Position) {
        guard target != animal.position else { return }
        cell(animal.position).occupants.removeAll { $0 === animal }
        animal.position = target
        cell(target).occupants.append(animal)
    }

    func spawn(_ animal: Animal) {
        births += 1
        newborn.append(animal)
        cell(animal.position).occupants.append(animal)
    }

    func step() {
        for animal in animals where animal.isAlive { animal.act(in: self) }
        var survivors: [Animal] = []
        survivors.reserveCapacity(animals.count)
        for animal in animals {
            if animal.isAlive {
                survivors.append(animal)
            } else {
                deaths += 1
                cell(animal.position).occupants.removeAll { $0 === animal }
            }
        }
        animals = survivors + newborn
        newborn.removeAll()
        for patch in cells where patch.grass < 10 && random(4) == 0 { patch.grass += 2 }
    }

    func populate(rabbits: Int, foxes: Int) {
        for _ in 0..<rabbits { spawn(Rabbit(position: Position(x: random(size), y: random(size)), energy: 14, mother: nil)) }
        for _ in 0..<foxes { spawn(Fox(position: Position(x: random(size), y: random(size)), energy: 40, mother: nil)) }
    }

    func census() -> (rabbits: Int, foxes: Int) {
        withLivingMother = animals.reduce(0) { $0 + ($1.mother == nil ? 0 : 1) }
        let foxes = animals.reduce(0) { $0 + ($1 is Fox ? 1 : 0) }
        return (animals.count - foxes, foxes)
    }
}

let world = World(size: 56, seed: 88_172_645_463_325_252)
world.populate(rabbits: 600, foxes: 60)
var lowest = Int.max, highest = 0
var chart: [String] = []
for generation in 0..<2_100 {
    world.step()
    let (rabbits, foxes) = world.census()
    lowest = min(lowest, rabbits)
    highest = max(highest, rabbits)
    if generation % 420 == 419 { chart.append("\(generation + 1): \(rabbits) rabbits, \(foxes) foxes") }
    if foxes < 4 { world.populate(rabbits: 0, foxes: 5) }
    if rabbits < 40 { world.populate(rabbits: 100, foxes: 0) }
}
chart.forEach { print($0) }
print("births \(world.births), deaths \(world.deaths), rabbits between \(lowest) and \(highest), with living mother \(world.withLivingMother)")
