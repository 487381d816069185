import Foundation

struct Spot: Hashable {
    let column: Int
    let row: Int
}

enum WorldEvent {
    case noise(Int)
    case death(String)
}

final class Creature {
    let name: String
    let species: Int
    var spot: Spot
    var health: Int
    private(set) var alertness = 0

    init(name: String, species: Int, spot: Spot, health: Int) {
        self.name = name
        self.species = species
        self.spot = spot
        self.health = health
    }

    func perceive(_ e: WorldEvent) {
        switch e {
        case .noise(let n): alertness = min(100, alertness + n)
        case .death: alertness += 5
        }
    }

    func calm() { alertness = alertness * 3 / 4 }
}

final class Region {
    let spot: Spot
    private var residents: [Creature] = []
    private var watchers: [Creature] = []

    init(spot: Spot) { self.spot = spot }

    func settle(_ c: Creature) { residents.append(c) }
    func unsettle(_ c: Creature) { residents.removeAll { $0 === c } }
    func watch(_ c: Creature) { watchers.append(c) }
    func unwatch(_ c: Creature) { watchers.removeAll { $0 === c } }

    func announce(_ e: WorldEvent) {
        for w in watchers { w.perceive(e) }
    }

    var population: Int { residents.count }
    func strongest() -> Creature? { residents.max { $0.health < $1.health } }
    func all() -> [Creature] { residents }
}

final class World {
    let columns: Int
    let rows: Int
    private let regions: [Region]
    private var census: [String: Creature] = [:]
    private(set) var walks = 0
    private(set) var teleports = 0
    private(set) var deaths = 0

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        regions = (0..<columns * rows).map { Region(spot: Spot(column: $0 % columns, row: $0 / columns)) }
    }

    func region(_ s: Spot) -> Region { regions[s.row * columns + s.column] }

    func spawn(_ c: Creature) {
        census[c.name] = c
        region(c.spot).settle(c)
        region(c.spot).watch(c)
    }

    func walk(_ c: Creature, to s: Spot) {
        let from = region(c.spot), to = region(s)
        from.unsettle(c)
        from.unwatch(c)
        c.spot = s
        to.settle(c)
        to.watch(c)
        walks += 1
    }

    func teleport(_ c: Creature, to s: Spot) {
        region(c.spot).unsettle(c)
        c.spot = s
        region(s).settle(c)
        region(s).watch(c)
        region(s).announce(.noise(20))
        teleports += 1
    }

    func kill(_ c: Creature) {
        census[c.name] = nil
        let r = region(c.spot)
        r.unsettle(c)
        r.unwatch(c)
        r.announce(.death(c.name))
        deaths += 1
    }

    var living: [Creature] { census.values.sorted { $0.name < $1.name } }
    var crowded: Region { regions.max { $0.population < $1.population }! }
    func eachRegion(_ body: (Region) -> Void) { regions.forEach(body) }
}

final class GameMaster {
    private let world = World(columns: 9, rows: 7)
    private var serial = 0
    private var seed: UInt64

    init(seed: UInt64) { self.seed = seed }

    private func random(_ n: Int) -> Int {
        seed = seed &* 2862933555777941757 &+ 3037000493
        return Int((seed >> 35) % UInt64(n))
    }

    private func anywhere() -> Spot {
        Spot(column: random(world.columns), row: random(world.rows))
    }

    private func step(from s: Spot) -> Spot {
        Spot(column: min(world.columns - 1, max(0, s.column + random(3) - 1)),
             row: min(world.rows - 1, max(0, s.row + random(3) - 1)))
    }

    func populate(_ n: Int) {
        for _ in 0..<n {
            serial += 1
            world.spawn(Creature(name: "creature-\(serial)", species: serial % 5, spot: anywhere(), health: 20 + random(40)))
        }
    }

    func turn(_ n: Int) {
        for c in world.living {
            c.health -= 1
            if c.health <= 0 {
                world.kill(c)
                continue
            }
            let choice = random(100)
            if choice < 45 {
                let s = step(from: c.spot)
                if s != c.spot { world.walk(c, to: s) }
            } else if choice == 99 && c.species == 2 {
                world.teleport(c, to: anywhere())
            } else {
                c.calm()
            }
        }
        fights()
        if n % 2 == 0 { populate(5) }
    }

    private func fights() {
        world.eachRegion { r in
            guard r.population > 3, let hero = r.strongest() else { return }
            r.announce(.noise(3))
            for other in r.all() where other !== hero && other.species != hero.species {
                other.health -= 2
                hero.health -= 1
            }
        }
    }

    func summary() -> String {
        let place = world.crowded
        return "turns over, living \(world.living.count), deaths \(world.deaths), walks \(world.walks), teleports \(world.teleports), fullest region \(place.spot.column)/\(place.spot.row) with \(place.population)"
    }
}

func play() {
    let master = GameMaster(seed: 2024)
    master.populate(60)
    for n in 0..<450 {
        master.turn(n)
        usleep(4_000)
    }
    print(master.summary())
}

play()
