import Foundation

class Entity {
    var x: Double
    var y: Double
    var hp: Int
    weak var world: World?
    init(x: Double, y: Double, hp: Int, world: World) { self.x = x; self.y = y; self.hp = hp; self.world = world }
    func update() {}
}

final class Tower: Entity {
    var cooldown = 0
    override func update() {
        guard let w = world else { return }
        cooldown -= 1
        if cooldown <= 0, let m = w.nearestMonster(x, y, within: 6) {
            w.spawn(Shot(target: m, from: self, world: w))
            cooldown = 3
        }
    }
}

final class Monster: Entity {
    override func update() { x += 0.4; y += x.truncatingRemainder(dividingBy: 2) < 1 ? 0.1 : -0.1 }
}

final class Shot: Entity {
    let target: Monster
    init(target: Monster, from t: Tower, world: World) {
        self.target = target
        super.init(x: t.x, y: t.y, hp: 3, world: world)
    }
    override func update() {
        hp -= 1
        if hp == 0 { target.hp -= 2 }
    }
}

final class Chunk {
    let index: Int
    let tiles: [UInt8]
    init(index: Int) { self.index = index; tiles = (0..<256).map { UInt8(($0 * 31 + index * 7) & 0xff) } }
}

final class World {
    private(set) var entities: [Entity] = []
    private var fresh: [Entity] = []
    private var chunks: [Int: Chunk] = [:]
    private(set) var destroyed = 0

    func spawn(_ e: Entity) { fresh.append(e) }
    func explore(_ i: Int) { if chunks[i] == nil { chunks[i] = Chunk(index: i) } }
    func nearestMonster(_ x: Double, _ y: Double, within d: Double) -> Monster? {
        for e in entities { if let m = e as? Monster, m.hp > 0, abs(m.x - x) + abs(m.y - y) < d { return m } }
        return nil
    }
    func tick() {
        entities += fresh
        fresh.removeAll(keepingCapacity: true)
        for e in entities {
            e.update()
            if let m = e as? Monster { explore(Int(m.x / 4) * 100 + Int(m.y / 4)) }
        }
        let n = entities.count
        entities.removeAll { $0.hp <= 0 }
        destroyed += n - entities.count
    }
    var chunkCount: Int { chunks.count }
}

@main
enum Game {
    static let world = World()
    static func main() {
        for wave in 1...12 {
            for t in 0..<3 { world.spawn(Tower(x: Double(wave * 3), y: Double(t * 4), hp: 20, world: world)) }
            for m in 0..<(10 + wave * 2) { world.spawn(Monster(x: 0, y: Double(m), hp: 2 + m % 3, world: world)) }
            for _ in 0..<30 { world.tick() }
        }
        let towers = world.entities.filter { $0 is Tower }.count
        print("entities \(world.entities.count) towers \(towers) destroyed \(world.destroyed) chunks \(world.chunkCount)")
    }
}
