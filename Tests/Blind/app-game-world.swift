import Foundation

struct Cell: Hashable {
    let x: Int
    let y: Int
}

class Entity {
    let id: Int
    var x: Double
    var y: Double
    var health: Int
    var cell = Cell(x: 0, y: 0)
    init(id: Int, x: Double, y: Double, health: Int) {
        self.id = id
        self.x = x
        self.y = y
        self.health = health
    }
    func update(_ world: GameWorld) {}
    var isAlive: Bool { health > 0 }
}

final class Inventory {
    var gold: Int
    var items: [String]
    init(gold: Int, items: [String]) {
        self.gold = gold
        self.items = items
    }
}

final class Monster: Entity {
    let inventory: Inventory
    private let speed: Double
    init(id: Int, x: Double, y: Double) {
        inventory = Inventory(gold: id % 17, items: ["club", "bone \(id % 5)"])
        speed = 0.4 + Double(id % 7) / 5
        super.init(id: id, x: x, y: y, health: 6 + id % 6)
    }
    override func update(_ world: GameWorld) {
        guard let hero = world.nearestHero(to: self) else { return }
        let dx = hero.x - x, dy = hero.y - y
        let distance = max(0.1, (dx * dx + dy * dy).squareRoot())
        x += dx / distance * speed
        y += dy / distance * speed
        if world.isLava(x, y) { health = 0 }
    }
}

final class Hero: Entity {
    let name: String
    var gold = 0
    var kills = 0
    private var heading = 0.0
    init(id: Int, name: String) {
        self.name = name
        super.init(id: id, x: 20 + Double(id) * 10, y: 30, health: 1_000_000)
    }
    override func update(_ world: GameWorld) {
        heading += 0.07
        x = min(max(0, x + cos(heading + Double(id))), 79)
        y = min(max(0, y + sin(heading + Double(id))), 79)
        for entity in world.neighbours(of: self) {
            guard let monster = entity as? Monster, monster.isAlive else { continue }
            monster.health -= 3
            if !monster.isAlive {
                kills += 1
                gold += monster.inventory.gold
                world.remove(monster)
            }
        }
    }
}

final class Grid {
    private var cells: [Cell: [Entity]] = [:]
    private let edge = 8.0

    private func cell(for entity: Entity) -> Cell { Cell(x: Int(entity.x / edge), y: Int(entity.y / edge)) }

    func insert(_ entity: Entity) {
        entity.cell = cell(for: entity)
        cells[entity.cell, default: []].append(entity)
    }

    func remove(_ entity: Entity) {
        cells[entity.cell]?.removeAll { $0 === entity }
    }

    func refresh(_ entity: Entity) {
        guard cell(for: entity) != entity.cell else { return }
        remove(entity)
        insert(entity)
    }

    func around(_ entity: Entity) -> [Entity] {
        (cells[entity.cell] ?? []).filter { $0 !== entity && $0.isAlive }
    }
}

final class GameWorld {
    private var entities: [Int: Entity] = [:]
    private var heroes: [Hero] = []
    private let grid = Grid()
    private var nextId = 10
    private(set) var burned = 0
    private(set) var spawned = 0

    func addHero(_ name: String) {
        let hero = Hero(id: heroes.count, name: name)
        heroes.append(hero)
        entities[hero.id] = hero
        grid.insert(hero)
    }

    func spawn(x: Double, y: Double) {
        nextId += 1
        spawned += 1
        let monster = Monster(id: nextId, x: x, y: y)
        entities[monster.id] = monster
        grid.insert(monster)
    }

    func nearestHero(to entity: Entity) -> Hero? {
        heroes.min { abs($0.x - entity.x) + abs($0.y - entity.y) < abs($1.x - entity.x) + abs($1.y - entity.y) }
    }

    func isLava(_ x: Double, _ y: Double) -> Bool { Int(x) % 19 == 7 && Int(y) % 13 == 4 }

    func neighbours(of entity: Entity) -> [Entity] { grid.around(entity) }

    func remove(_ entity: Entity) {
        entities[entity.id] = nil
        grid.remove(entity)
    }

    func tick() {
        for entity in entities.values.sorted(by: { $0.id < $1.id }) where entity.isAlive {
            entity.update(self)
            if entity.isAlive {
                grid.refresh(entity)
            } else if entities[entity.id] != nil {
                entities[entity.id] = nil
                burned += 1
            }
        }
    }

    var population: Int { entities.count }

    func scores() {
        for hero in heroes.sorted(by: { $0.kills > $1.kills }) {
            print("\(hero.name): \(hero.kills) kills, \(hero.gold) gold")
        }
    }
}

func play() {
    let world = GameWorld()
    ["Ada", "Bo", "Cy"].forEach(world.addHero)
    for turn in 0..<700 {
        world.spawn(x: Double(turn * 13 % 79), y: Double(turn * 29 % 79))
        if turn % 3 == 0 { world.spawn(x: Double(turn * 7 % 79), y: 2) }
        world.tick()
        usleep(2200)
    }
    world.scores()
    print("spawned \(world.spawned), burned \(world.burned), left \(world.population)")
}

play()
