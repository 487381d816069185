import Foundation

final class Projectile {
    var x = 0.0
    var speed = 0.0
    var ttl = 0
    var active = false
    func launch(from x: Double, speed: Double) {
        self.x = x
        self.speed = speed
        ttl = 12
        active = true
    }
}

final class ProjectilePool {
    private var free: [Projectile] = []
    private(set) var allocated = 0

    func obtain() -> Projectile {
        if let spare = free.popLast() { return spare }
        allocated += 1
        return Projectile()
    }

    func recycle(_ projectile: Projectile) {
        projectile.active = false
        free.append(projectile)
    }
}

final class Creep {
    var x: Double
    var health: Int
    init(x: Double, health: Int) {
        self.x = x
        self.health = health
    }
}

final class Tower {
    let x: Double
    let cooldown: Int
    private var heat = 0
    init(x: Double, cooldown: Int) {
        self.x = x
        self.cooldown = cooldown
    }

    func ready() -> Bool {
        heat += 1
        guard heat >= cooldown else { return false }
        heat = 0
        return true
    }
}

final class Lane {
    private let pool = ProjectilePool()
    private var towers: [Tower] = []
    private var creeps: [Creep] = []
    private var flying: [Projectile] = []
    private(set) var score = 0
    private(set) var escaped = 0

    func build(_ tower: Tower) { towers.append(tower) }
    func spawn(_ creep: Creep) { creeps.append(creep) }

    func step() {
        for tower in towers where tower.ready() {
            let shot = pool.obtain()
            shot.launch(from: tower.x, speed: 2.5)
            flying.append(shot)
        }
        for creep in creeps { creep.x -= 1 }
        for shot in flying {
            shot.x += shot.speed
            shot.ttl -= 1
            if let victim = creeps.first(where: { abs($0.x - shot.x) < 2 }) {
                victim.health -= 1
                shot.ttl = 0
            }
        }
        flying.removeAll { shot in
            guard shot.ttl <= 0 else { return false }
            pool.recycle(shot)
            return true
        }
        let before = creeps.count
        creeps.removeAll { $0.health <= 0 }
        score += before - creeps.count
        let alive = creeps.count
        creeps.removeAll { $0.x < 0 }
        escaped += alive - creeps.count
    }

    var report: String { "score \(score) escaped \(escaped) creeps \(creeps.count) towers \(towers.count) shots made \(pool.allocated)" }
}

let lane = Lane()
for n in 0..<8 { lane.build(Tower(x: Double(n * 6), cooldown: 3 + n % 3)) }
for frame in 0..<100 {
    if frame % 2 == 0 { lane.spawn(Creep(x: 70, health: 2 + frame % 3)) }
    if frame > 70 && frame % 3 == 0 { lane.build(Tower(x: Double(frame % 40), cooldown: 1)) }
    lane.step()
    Thread.sleep(forTimeInterval: 0.01)
}
print(lane.report)
