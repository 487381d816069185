import Foundation

enum Faction: Int, CaseIterable {
    case ember, tide, moss
}

struct Cell: Hashable {
    let x: Int
    let y: Int
}

final class Entity {
    let id: Int
    let faction: Faction
    var cell: Cell
    var health: Int
    var score = 0

    init(id: Int, faction: Faction, cell: Cell, health: Int) {
        self.id = id
        self.faction = faction
        self.cell = cell
        self.health = health
    }
}

final class World {
    private var entities: [Int: Entity] = [:]
    private var grid: [Cell: [Entity]] = [:]
    private var armies: [Faction: [Entity]] = [:]
    private var nextID = 0
    private(set) var despawned = 0

    func spawn(_ faction: Faction, at cell: Cell, health: Int) {
        let entity = Entity(id: nextID, faction: faction, cell: cell, health: health)
        nextID += 1
        entities[entity.id] = entity
        grid[cell, default: []].append(entity)
        armies[faction, default: []].append(entity)
    }

    func march(_ tick: Int) {
        for faction in Faction.allCases {
            for entity in armies[faction] ?? [] {
                let dx = (entity.id + tick) % 3 - 1
                let dy = (entity.id * 5 + tick) % 3 - 1
                let target = Cell(x: (entity.cell.x + dx + 16) % 16, y: (entity.cell.y + dy + 16) % 16)
                grid[entity.cell]?.removeAll { $0 === entity }
                entity.cell = target
                grid[target, default: []].append(entity)
            }
        }
    }

    func skirmish() {
        for y in 0..<16 {
            for x in 0..<16 {
                guard let crowd = grid[Cell(x: x, y: y)], crowd.count > 1 else { continue }
                let sorted = crowd.sorted { $0.id < $1.id }
                for (striker, target) in zip(sorted, sorted.dropFirst()) where striker.faction != target.faction {
                    target.health -= 4
                    striker.score += 1
                    if target.health <= 0 { despawn(target) }
                }
            }
        }
    }

    private func despawn(_ entity: Entity) {
        guard entities.removeValue(forKey: entity.id) != nil else { return }
        grid[entity.cell]?.removeAll { $0 === entity }
        armies[entity.faction]?.removeAll { $0 === entity }
        despawned += 1
    }

    func standings() -> [(faction: Faction, alive: Int, score: Int)] {
        Faction.allCases.map { faction in
            let army = armies[faction] ?? []
            return (faction, army.count, army.reduce(0) { $0 + $1.score + $1.health })
        }
    }

    var population: Int { entities.count }
}

@main
struct Arena {
    static let world = World()

    static func main() {
        for tick in 0..<200 {
            for lane in 0..<6 {
                let faction = Faction(rawValue: (tick + lane) % 3)!
                world.spawn(faction, at: Cell(x: (tick * 3 + lane) % 16, y: (lane * 5 + tick) % 16), health: 6 + lane % 3)
            }
            world.march(tick)
            world.skirmish()
        }
        print("alive: \(world.population), despawned: \(world.despawned)")
        for line in world.standings() {
            print("\(line.faction): \(line.alive) standing, score \(line.score)")
        }
    }
}
