import Foundation

struct Position: Hashable {
    var x: Int
    var y: Int
}

final class World {
    let side: Int
    var grass: [Int]
    private var cells: [Position: [Animal]] = [:]
    var rng: UInt64 = 99

    init(side: Int) {
        self.side = side
        grass = Array(repeating: 3, count: side * side)
    }

    func random(_ n: Int) -> Int {
        rng ^= rng << 13
        rng ^= rng >> 7
        rng ^= rng << 17
        return Int(rng % UInt64(n))
    }

    func enter(_ a: Animal) { cells[a.position, default: []].append(a) }

    func leave(_ a: Animal) {
        cells[a.position]?.removeAll { $0 === a }
        if cells[a.position]?.isEmpty == true { cells[a.position] = nil }
    }

    func rabbit(at p: Position) -> Rabbit? {
        cells[p]?.lazy.compactMap { $0 as? Rabbit }.first { $0.alive }
    }

    func crowd(_ p: Position) -> Int { cells[p]?.count ?? 0 }

    func graze(_ p: Position) -> Int {
        let i = p.y * side + p.x
        let n = min(2, grass[i])
        grass[i] -= n
        return n
    }

    func grow() {
        for i in grass.indices where grass[i] < 6 && random(4) == 0 { grass[i] += 1 }
    }

    func neighbour(_ p: Position) -> Position {
        Position(x: (p.x + random(3) - 1 + side) % side, y: (p.y + random(3) - 1 + side) % side)
    }
}

class Animal {
    var position: Position
    var energy: Int
    var age = 0
    var alive = true
    let generation: Int
    init(position: Position, energy: Int, generation: Int) {
        self.position = position
        self.energy = energy
        self.generation = generation
    }
    func move(in world: World) {
        world.leave(self)
        position = world.neighbour(position)
        world.enter(self)
        age += 1
        energy -= 1
    }
    func act(in world: World) -> Animal? { nil }
}

final class Rabbit: Animal {
    override func act(in world: World) -> Animal? {
        move(in: world)
        energy += world.graze(position)
        if age > 60 || energy <= 0 { alive = false; return nil }
        guard energy > 12, world.crowd(position) < 4 else { return nil }
        energy /= 2
        return Rabbit(position: position, energy: energy, generation: generation + 1)
    }
}

final class Fox: Animal {
    override func act(in world: World) -> Animal? {
        move(in: world)
        if energy < 40, let prey = world.rabbit(at: position) {
            prey.alive = false
            energy += 9
        }
        if age > 120 || energy <= 0 { alive = false; return nil }
        guard energy > 30 else { return nil }
        energy /= 2
        return Fox(position: position, energy: energy, generation: generation + 1)
    }
}

final class Census {
    private var window: [(rabbits: Int, foxes: Int)] = []
    private(set) var peak = 0
    private(set) var born = 0
    private(set) var died = 0
    private(set) var oldest = 0

    func birth() { born += 1 }
    func death(_ a: Animal) {
        died += 1
        oldest = max(oldest, a.age)
    }
    func record(rabbits: Int, foxes: Int) {
        window.append((rabbits, foxes))
        if window.count > 30 { window.removeFirst() }
        peak = max(peak, rabbits + foxes)
    }
    var trend: Int { (window.last?.rabbits ?? 0) - (window.first?.rabbits ?? 0) }
}

final class Simulation {
    private let world = World(side: 34)
    private var population: [Animal] = []
    private let census = Census()

    init(rabbits: Int, foxes: Int) {
        for _ in 0..<rabbits { add(Rabbit(position: place(), energy: 6, generation: 0)) }
        for _ in 0..<foxes { add(Fox(position: place(), energy: 20, generation: 0)) }
    }

    private func place() -> Position {
        Position(x: world.random(world.side), y: world.random(world.side))
    }

    private func add(_ a: Animal) {
        population.append(a)
        world.enter(a)
        census.birth()
    }

    func step() {
        world.grow()
        var young: [Animal] = []
        for a in population where a.alive {
            if let child = a.act(in: world) { young.append(child) }
        }
        for a in population where !a.alive {
            world.leave(a)
            census.death(a)
        }
        population.removeAll { !$0.alive }
        for c in young { add(c) }
        let rabbits = population.lazy.filter { $0 is Rabbit }.count
        census.record(rabbits: rabbits, foxes: population.count - rabbits)
        if population.count - rabbits < 4 { add(Fox(position: place(), energy: 25, generation: 0)) }
        if rabbits < 20 { add(Rabbit(position: place(), energy: 8, generation: 0)) }
    }

    func summary() -> String {
        let g = population.map(\.generation).max() ?? 0
        return "alive \(population.count) born \(census.born) died \(census.died) peak \(census.peak) oldest \(census.oldest) generation \(g) trend \(census.trend)"
    }
}

func run() {
    let sim = Simulation(rabbits: 220, foxes: 18)
    for _ in 0..<600 {
        sim.step()
        usleep(2_500)
    }
    print(sim.summary())
}

run()
