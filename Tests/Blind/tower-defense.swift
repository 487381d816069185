import Foundation

// Tower defense simulation: towers shoot at creeps, piercing projectiles hurt each creep once.

struct Vector {
    var x: Double
    var y: Double

    static func + (a: Vector, b: Vector) -> Vector { Vector(x: a.x + b.x, y: a.y + b.y) }
    static func - (a: Vector, b: Vector) -> Vector { Vector(x: a.x - b.x, y: a.y - b.y) }
    static func * (a: Vector, k: Double) -> Vector { Vector(x: a.x * k, y: a.y * k) }
    var length: Double { (x * x + y * y).squareRoot() }
}

final class Creep {
    let id: Int
    var health: Double
    private(set) var distance = 0.0

    init(id: Int, health: Double) {
        self.id = id
        self.health = health
    }

    func walk(_ seconds: Double) { distance += 22 * seconds }

    var position: Vector { Vector(x: distance, y: 60 + 40 * sin(distance / 50)) }
}

final class Projectile: Hashable {
    let damage: Double
    private(set) var position: Vector
    private let velocity: Vector
    private var life = 1.2

    init(from origin: Vector, toward target: Vector, damage: Double) {
        position = origin
        let offset = target - origin
        velocity = offset * (160 / max(offset.length, 1))
        self.damage = damage
    }

    func fly(_ seconds: Double) -> Bool {
        position = position + velocity * seconds
        life -= seconds
        return life > 0
    }

    static func == (a: Projectile, b: Projectile) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

struct Tower {
    let position: Vector
    let range: Double
    let damage: Double
}

final class World {
    private let towers: [Tower]
    private var creeps: [Creep] = []
    private var projectiles: [Projectile] = []
    private var alreadyHit: [Projectile: Set<Int>] = [:]
    private var nextCreep = 0
    private(set) var shots = 0
    private(set) var kills = 0
    private(set) var escaped = 0

    init(towers: [Tower]) { self.towers = towers }

    func spawn(health: Double) {
        creeps.append(Creep(id: nextCreep, health: health))
        nextCreep += 1
    }

    func fire() {
        for tower in towers {
            guard let target = creeps.last(where: { ($0.position - tower.position).length < tower.range }) else { continue }
            let projectile = Projectile(from: tower.position, toward: target.position, damage: tower.damage)
            projectiles.append(projectile)
            alreadyHit[projectile] = []
            shots += 1
        }
    }

    func update(_ seconds: Double) {
        for creep in creeps { creep.walk(seconds) }
        projectiles.removeAll { !$0.fly(seconds) }
        for projectile in projectiles {
            for creep in creeps where (creep.position - projectile.position).length < 7 {
                if alreadyHit[projectile]?.insert(creep.id).inserted == true { creep.health -= projectile.damage }
            }
        }
        let before = creeps.count
        creeps.removeAll { $0.health <= 0 }
        kills += before - creeps.count
        let alive = creeps.count
        creeps.removeAll { $0.distance > 400 }
        escaped += alive - creeps.count
    }

    var status: String { "creeps \(creeps.count), flying \(projectiles.count), shots \(shots), kills \(kills), escaped \(escaped)" }
}

let towers = (0..<5).map { Tower(position: Vector(x: 40 + Double($0) * 60, y: 60), range: 500, damage: 6 + Double($0)) }
let world = World(towers: towers)
world.spawn(health: 1_000_000)

for wave in 0..<180 {
    if wave % 2 == 0 { world.spawn(health: 55 + Double(wave % 30)) }
    world.fire()
    for _ in 0..<6 { world.update(1 / 60) }
    if wave % 60 == 59 { print(world.status) }
    Thread.sleep(forTimeInterval: 0.005)
}
