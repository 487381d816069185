import Foundation

// Fireworks over a spatial grid. Particles are taken from a pool; the grid is
// used for repulsion between neighbours.

final class Particle {
    var x = 0.0, y = 0.0
    var vx = 0.0, vy = 0.0
    var life = 0
    var hue = 0
    fileprivate(set) var slot = -1
}

final class ParticlePool {
    private var idle: [Particle] = []
    private let limit: Int
    private(set) var created = 0
    private(set) var reused = 0

    init(limit: Int) { self.limit = limit }

    func obtain() -> Particle? {
        if let particle = idle.popLast() {
            reused += 1
            return particle
        }
        guard created < limit else { return nil }
        created += 1
        return Particle()
    }

    func giveBack(_ particle: Particle) {
        particle.slot = -1
        idle.append(particle)
    }

    var idleCount: Int { idle.count }
}

struct SpatialGrid {
    private let cellSize: Double
    private let columns: Int
    private let rows: Int
    private var buckets: [[Particle]]

    init(width: Double, height: Double, cellSize: Double) {
        self.cellSize = cellSize
        columns = Int(width / cellSize) + 1
        rows = Int(height / cellSize) + 1
        buckets = Array(repeating: [], count: columns * rows)
    }

    mutating func rebuild(with particles: [Particle]) {
        for index in buckets.indices { buckets[index].removeAll(keepingCapacity: true) }
        for particle in particles {
            let column = min(max(Int(particle.x / cellSize), 0), columns - 1)
            let row = min(max(Int(particle.y / cellSize), 0), rows - 1)
            particle.slot = row * columns + column
            buckets[particle.slot].append(particle)
        }
    }

    func forEachNeighbour(of particle: Particle, _ body: (Particle) -> Void) {
        let row = particle.slot / columns, column = particle.slot % columns
        for r in max(0, row - 1)...min(rows - 1, row + 1) {
            for c in max(0, column - 1)...min(columns - 1, column + 1) {
                for other in buckets[r * columns + c] where other !== particle { body(other) }
            }
        }
    }

    var fullest: Int { buckets.map(\.count).max() ?? 0 }
}

protocol Effect { func apply(to particle: Particle, at frame: Int) }

struct Gravity: Effect {
    let strength: Double
    func apply(to particle: Particle, at frame: Int) { particle.vy -= strength }
}

struct Wind: Effect {
    let strength: Double
    func apply(to particle: Particle, at frame: Int) { particle.vx += strength * sin(Double(frame) / 40 + particle.y / 50) }
}

final class Scene {
    private let width = 800.0, height = 450.0
    private let pool: ParticlePool
    private var grid: SpatialGrid
    private var particles: [Particle] = []
    private var effects: [Effect]
    private var frame = 0
    private var seed: UInt64 = 5_489
    private(set) var launched = 0
    private(set) var skipped = 0
    private(set) var peak = 0
    private(set) var crowding = 0

    init(pool: ParticlePool, effects: [Effect]) {
        self.pool = pool
        self.effects = effects
        grid = SpatialGrid(width: width, height: height, cellSize: 25)
    }

    private func uniform() -> Double {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(seed >> 11) / Double(1 << 53)
    }

    func burst(count: Int) {
        let cx = 100 + uniform() * (width - 200), cy = height * (0.4 + uniform() * 0.5)
        let hue = Int(uniform() * 360)
        for _ in 0..<count {
            guard let particle = pool.obtain() else { skipped += 1; continue }
            let angle = uniform() * 2 * .pi, speed = 1 + uniform() * 3
            particle.x = cx
            particle.y = cy
            particle.vx = cos(angle) * speed
            particle.vy = sin(angle) * speed
            particle.life = 40 + Int(uniform() * 50)
            particle.hue = hue
            particles.append(particle)
            launched += 1
        }
    }

    func advance() {
        frame += 1
        grid.rebuild(with: particles)
        crowding = max(crowding, grid.fullest)
        for particle in particles where particle.life % 2 == 0 {
            var pushX = 0.0, pushY = 0.0
            var seen = 0
            grid.forEachNeighbour(of: particle) { other in
                guard seen < 24 else { return }
                seen += 1
                let dx = particle.x - other.x, dy = particle.y - other.y
                let distance = dx * dx + dy * dy + 1
                pushX += dx / distance
                pushY += dy / distance
            }
            particle.vx += pushX * 0.02
            particle.vy += pushY * 0.02
        }
        for particle in particles {
            for effect in effects { effect.apply(to: particle, at: frame) }
            particle.x += particle.vx
            particle.y += particle.vy
            particle.life -= 1
        }
        let split = particles.partition { $0.life <= 0 || $0.y < 0 || $0.x < 0 || $0.x > width }
        for particle in particles[split...] { pool.giveBack(particle) }
        particles.removeSubrange(split...)
        peak = max(peak, particles.count)
    }

    func centroid() -> (x: Double, y: Double) {
        guard !particles.isEmpty else { return (0, 0) }
        let n = Double(particles.count)
        return (particles.reduce(0) { $0 + $1.x } / n, particles.reduce(0) { $0 + $1.y } / n)
    }

    var active: Int { particles.count }
    var hues: Int { Set(particles.map(\.hue)).count }
}

let pool = ParticlePool(limit: 2_500)
let scene = Scene(pool: pool, effects: [Gravity(strength: 0.035), Wind(strength: 0.01)])
var drift = 0.0
var colours = 0
for frame in 0..<420 {
    if frame % 5 == 0, (frame / 100) % 2 == 0 { scene.burst(count: 110) }
    if frame % 37 == 0 { scene.burst(count: 60) }
    scene.advance()
    let centre = scene.centroid()
    drift += centre.x / 800 + centre.y / 450
    colours = max(colours, scene.hues)
    usleep(400)
}
print("launched \(scene.launched), skipped \(scene.skipped), active \(scene.active), peak \(scene.peak)")
print("pool created \(pool.created), reused \(pool.reused), idle \(pool.idleCount)")
print("crowding \(scene.crowding), colours \(colours), drift \(String(format: "%.1f", drift))")
