import Foundation

// Arena game: waves of units fight on a field. Some units are beacons which
// listen for weather announcements and strengthen the units around them.

extension Notification.Name {
    static let weatherChanged = Notification.Name("weatherChanged")
}

struct Point {
    var x: Double, y: Double
    func distance(to other: Point) -> Double { ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot() }
}

enum Team: Int { case red, blue }

class Unit {
    let id: Int
    let team: Team
    var position: Point
    private(set) var health: Double
    weak var target: Unit?
    var shield = 0.0

    init(id: Int, team: Team, position: Point, health: Double) {
        self.id = id
        self.team = team
        self.position = position
        self.health = health
    }

    var isAlive: Bool { health > 0 }
    func enter(_ arena: Arena) {}
    func leave() { target = nil }

    func suffer(_ damage: Double) {
        let absorbed = min(shield, damage * 0.5)
        shield -= absorbed
        health -= damage - absorbed
    }

    func act(in arena: Arena) {
        if target == nil || target?.isAlive == false { target = arena.nearestEnemy(of: self) }
        guard let target else { return }
        let distance = position.distance(to: target.position)
        if distance < 3 {
            target.suffer(arena.roll(2, 7))
        } else {
            position.x += (target.position.x - position.x) / distance * arena.pace
            position.y += (target.position.y - position.y) / distance * arena.pace
        }
    }
}

final class Warrior: Unit {}

final class Beacon: Unit {
    private var token: NSObjectProtocol?
    private var strength = 1.0
    private unowned let centre: NotificationCenter

    init(id: Int, team: Team, position: Point, centre: NotificationCenter) {
        self.centre = centre
        super.init(id: id, team: team, position: position, health: 30)
    }

    override func enter(_ arena: Arena) {
        token = centre.addObserver(forName: .weatherChanged, object: nil, queue: nil) { note in
            self.strength = note.userInfo?["wind"] as? Double ?? 1
        }
    }

    override func act(in arena: Arena) {
        for friend in arena.friends(of: self, within: 12) { friend.shield = min(friend.shield + strength * 0.3, 12) }
    }
}

final class Arena {
    let size = 120.0
    private var units: [Unit] = []
    private var seed: UInt64
    private let centre: NotificationCenter
    private(set) var pace = 1.0
    private(set) var fallen = 0
    private var nextID = 0

    init(seed: UInt64, centre: NotificationCenter) {
        self.seed = seed
        self.centre = centre
    }

    func roll(_ low: Double, _ high: Double) -> Double {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return low + (high - low) * Double(seed >> 11) / Double(1 << 53)
    }

    func deploy(team: Team, warriors: Int, beacons: Int) {
        let side = team == .red ? 0.0 : size * 0.7
        for number in 0..<(warriors + beacons) {
            nextID += 1
            let position = Point(x: side + roll(0, size * 0.3), y: roll(0, size))
            let unit = number < warriors
                ? Warrior(id: nextID, team: team, position: position, health: roll(40, 60))
                : Beacon(id: nextID, team: team, position: position, centre: centre)
            unit.enter(self)
            units.append(unit)
        }
    }

    func nearestEnemy(of unit: Unit) -> Unit? {
        var best: Unit?
        var bestDistance = Double.infinity
        for other in units where other.team != unit.team && other.isAlive {
            let distance = unit.position.distance(to: other.position)
            if distance < bestDistance {
                bestDistance = distance
                best = other
            }
        }
        return best
    }

    func friends(of unit: Unit, within radius: Double) -> [Unit] {
        units.filter { $0.team == unit.team && $0 !== unit && $0.isAlive && $0.position.distance(to: unit.position) < radius }
    }

    func tick(_ number: Int) {
        if number % 10 == 0 {
            let wind = roll(0.5, 2)
            pace = 1.6 - wind * 0.3
            centre.post(name: .weatherChanged, object: nil, userInfo: ["wind": wind])
        }
        for unit in units where unit.isAlive { unit.act(in: self) }
        for unit in units where !unit.isAlive {
            unit.leave()
            fallen += 1
        }
        units.removeAll { !$0.isAlive }
    }

    func evacuate() {
        units.forEach { $0.leave() }
        units.removeAll()
    }

    func count(_ team: Team) -> Int { units.reduce(0) { $0 + ($1.team == team ? 1 : 0) } }
}

let centre = NotificationCenter()
var victories: [Team: Int] = [:]
var fallen = 0, ticks = 0
for match in 1...40 {
    let arena = Arena(seed: UInt64(match) &* 104_729, centre: centre)
    arena.deploy(team: .red, warriors: 70, beacons: 4)
    arena.deploy(team: .blue, warriors: 68, beacons: 5)
    var tick = 0
    while arena.count(.red) > 0, arena.count(.blue) > 0, tick < 260 {
        arena.tick(tick)
        tick += 1
    }
    victories[arena.count(.red) > arena.count(.blue) ? .red : .blue, default: 0] += 1
    arena.evacuate()
    fallen += arena.fallen
    ticks += tick
}
print("red won \(victories[.red] ?? 0), blue won \(victories[.blue] ?? 0), fallen \(fallen), ticks \(ticks)")
