import Foundation

struct Point {
    var x: Double
    var y: Double
}

struct CellKey: Hashable {
    let column: Int
    let row: Int
    init(_ point: Point) {
        column = Int((point.x / 10).rounded(.down))
        row = Int((point.y / 10).rounded(.down))
    }
}

final class HealthBar {
    var value: Int
    init(value: Int) { self.value = value }
}

final class Enemy {
    let id: Int
    var position: Point
    var velocity: Point
    let health: HealthBar
    var alive = true

    init(id: Int, position: Point, velocity: Point) {
        self.id = id
        self.position = position
        self.velocity = velocity
        self.health = HealthBar(value: 30)
    }
}

final class SpatialGrid {
    private var cells: [CellKey: [Enemy]] = [:]

    func insert(_ enemy: Enemy) { cells[CellKey(enemy.position), default: []].append(enemy) }

    func remove(_ enemy: Enemy) {
        let key = CellKey(enemy.position)
        cells[key]?.removeAll { $0 === enemy }
        if cells[key]?.isEmpty == true { cells.removeValue(forKey: key) }
    }

    func move(_ enemy: Enemy, to target: Point) {
        remove(enemy)
        enemy.position = target
        insert(enemy)
    }

    func near(_ point: Point) -> [Enemy] { (cells[CellKey(point)] ?? []).filter { $0.alive } }
}

final class Arena {
    private let grid = SpatialGrid()
    private var enemies: [Int: Enemy] = [:]
    private var spawned = 0
    private(set) var kills = 0

    func spawn() {
        let n = Double(spawned)
        let enemy = Enemy(id: spawned, position: Point(x: n.truncatingRemainder(dividingBy: 90), y: (n * 7).truncatingRemainder(dividingBy: 90)),
                          velocity: Point(x: 0.7, y: -0.4))
        spawned += 1
        enemies[enemy.id] = enemy
        grid.insert(enemy)
    }

    func step() {
        for enemy in enemies.values {
            grid.move(enemy, to: Point(x: enemy.position.x + enemy.velocity.x, y: enemy.position.y + enemy.velocity.y))
            enemy.health.value -= 1 + grid.near(enemy.position).count / 50
        }
        for enemy in enemies.values.filter({ $0.health.value <= 12 }).sorted(by: { $0.id < $1.id }) {
            if enemy.id % 20 == 6 { explode(enemy) } else { kill(enemy) }
        }
    }

    private func explode(_ enemy: Enemy) {
        enemy.position.x += 25
        enemy.position.y += 25
        kill(enemy)
    }

    private func kill(_ enemy: Enemy) {
        enemy.alive = false
        grid.remove(enemy)
        enemies.removeValue(forKey: enemy.id)
        kills += 1
    }

    var population: Int { enemies.count }
}

let arena = Arena()
for frame in 0..<90 {
    if frame < 60 { for _ in 0..<12 { arena.spawn() } }
    arena.step()
    Thread.sleep(forTimeInterval: 0.012)
}
print("kills \(arena.kills), left \(arena.population)")
