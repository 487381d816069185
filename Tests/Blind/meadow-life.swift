final class Gene {
    let speed: Int
    let appetite: Int
    init(speed: Int, appetite: Int) { self.speed = speed; self.appetite = appetite }
}

final class Animal {
    let gene: Gene
    var x: Int
    var energy: Int
    var age = 0
    init(gene: Gene, x: Int, energy: Int) { self.gene = gene; self.x = x; self.energy = energy }
    var dead: Bool { energy <= 0 || age > 25 }
}

final class Patch {
    var grass: Int
    init(grass: Int) { self.grass = grass }
    func grow() { grass = min(120, grass + 9) }
    func graze(_ n: Int) -> Int { let g = min(n, grass); grass -= g; return g }
}

struct Random {
    var s: UInt64
    mutating func below(_ n: Int) -> Int {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17
        return Int(s % UInt64(n))
    }
}

final class Meadow {
    private let patches: [Patch]
    private(set) var herd: [Animal] = []
    private(set) var births = 0
    private(set) var deaths = 0
    private var random = Random(s: 88172645463325252)

    init(patches: Int, founders: Int) {
        self.patches = (0..<patches).map { _ in Patch(grass: 60) }
        for _ in 0..<founders {
            herd.append(Animal(gene: Gene(speed: 2 + random.below(3), appetite: 4), x: random.below(patches), energy: 12))
        }
    }

    func tick() {
        patches.forEach { $0.grow() }
        var newborn: [Animal] = []
        for a in herd {
            a.age += 1
            a.x = (a.x + random.below(2 * a.gene.speed + 1) + patches.count - a.gene.speed) % patches.count
            a.energy += patches[a.x].graze(a.gene.appetite) - 3
            if a.energy > 18 && random.below(4) == 0 {
                a.energy -= 9
                let g = Gene(speed: max(1, a.gene.speed + random.below(3) - 1), appetite: a.gene.appetite)
                newborn.append(Animal(gene: g, x: a.x, energy: 9))
            }
        }
        let before = herd.count
        herd.removeAll { $0.dead }
        deaths += before - herd.count
        births += newborn.count
        herd += newborn
    }
}

let meadow = Meadow(patches: 400, founders: 60)
for _ in 0..<70 { meadow.tick() }
print("herd \(meadow.herd.count) births \(meadow.births) deaths \(meadow.deaths)")
