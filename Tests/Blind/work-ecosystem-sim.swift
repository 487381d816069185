import Foundation

class Animal {
    var energy: Int
    var age = 0
    let generation: Int
    weak var mother: Animal?

    init(energy: Int, mother: Animal?) {
        self.energy = energy
        self.mother = mother
        generation = (mother?.generation ?? 0) + 1
    }

    func live(in meadow: Meadow) { age += 1 }
    func offspring() -> Animal? { nil }
    var dead: Bool { energy <= 0 || age > 60 }
}

final class Rabbit: Animal {
    override func live(in meadow: Meadow) {
        super.live(in: meadow)
        energy += meadow.graze() - 2
    }
    override func offspring() -> Animal? {
        guard energy > 22, age > 4 else { return nil }
        energy -= 12
        return Rabbit(energy: 10, mother: self)
    }
}

final class Fox: Animal {
    private(set) var caught = 0
    override func live(in meadow: Meadow) {
        super.live(in: meadow)
        energy -= 2
        if energy < 40, meadow.hunt() {
            caught += 1
            energy += 11
        }
    }
    override func offspring() -> Animal? {
        guard energy > 36, age > 8 else { return nil }
        energy -= 18
        return Fox(energy: 16, mother: self)
    }
}

final class Grave {
    let age: Int
    let generation: Int
    let fox: Bool
    init(_ animal: Animal) {
        age = animal.age
        generation = animal.generation
        fox = animal is Fox
    }
}

final class Census {
    let season: Int
    let rabbits: Int
    let foxes: Int
    init(season: Int, rabbits: Int, foxes: Int) {
        self.season = season
        self.rabbits = rabbits
        self.foxes = foxes
    }
}

final class Meadow {
    private(set) var rabbits: [Rabbit] = []
    private(set) var foxes: [Fox] = []
    private var grass = 900
    private var censuses: [Census] = []
    private var graves: [Grave] = []
    private var seed: UInt64 = 606

    init(rabbits r: Int, foxes f: Int) {
        rabbits = (0..<r).map { _ in Rabbit(energy: 12, mother: nil) }
        foxes = (0..<f).map { _ in Fox(energy: 25, mother: nil) }
    }

    private func draw(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 33) % UInt64(n))
    }

    func graze() -> Int {
        guard grass >= 3 else { return 0 }
        let bite = 2 + draw(3)
        grass -= bite
        return bite
    }

    func hunt() -> Bool {
        guard !rabbits.isEmpty, draw(600) < rabbits.count + 60 else { return false }
        let victim = rabbits.remove(at: draw(rabbits.count))
        bury(victim)
        return true
    }

    private func bury(_ animal: Animal) {
        if animal.age > 25 { graves.append(Grave(animal)) }
    }

    func step(_ season: Int) {
        grass = min(1_600, grass + 620)
        for rabbit in rabbits { rabbit.live(in: self) }
        for fox in foxes { fox.live(in: self) }
        let kits = rabbits.compactMap { $0.offspring() as? Rabbit }
        let cubs = foxes.compactMap { $0.offspring() as? Fox }
        rabbits.filter { $0.dead }.forEach(bury)
        foxes.filter { $0.dead }.forEach(bury)
        rabbits.removeAll { $0.dead }
        foxes.removeAll { $0.dead }
        rabbits += kits
        foxes += cubs
        if foxes.isEmpty { foxes.append(Fox(energy: 25, mother: nil)) }
        if rabbits.count < 10 { rabbits.append(Rabbit(energy: 14, mother: nil)) }
        if season % 5 == 0 {
            censuses.append(Census(season: season, rabbits: rabbits.count, foxes: foxes.count))
        }
    }

    func oldestFamily() -> Int {
        (rabbits as [Animal] + foxes).filter { $0.mother != nil }.map { $0.generation }.max() ?? 0
    }

    func chart() -> [String] {
        let peak = max(1, censuses.map { $0.rabbits }.max() ?? 1)
        return censuses.filter { $0.season % 40 == 0 }.map { census in
            let bar = String(repeating: "*", count: census.rabbits * 30 / peak)
            return "\(census.season)\t\(bar) \(census.foxes)"
        }
    }

    func epitaph() -> String {
        let byGeneration = Dictionary(grouping: graves, by: { $0.generation })
        let longest = byGeneration.mapValues { g in g.map { $0.age }.max() ?? 0 }
        let foxes = graves.reduce(0) { $0 + ($1.fox ? 1 : 0) }
        return "\(graves.count) graves, \(foxes) foxes, \(longest.count) generations, oldest \(longest.values.max() ?? 0)"
    }
}

let meadow = Meadow(rabbits: 150, foxes: 12)
for season in 0..<400 {
    meadow.step(season)
    usleep(4_500)
}
meadow.chart().forEach { print($0) }
print(meadow.epitaph())
print("deepest living family \(meadow.oldestFamily())")
