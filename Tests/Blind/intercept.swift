import Foundation

class Body {
    let id: Int
    var x: Double
    var intact = true
    init(id: Int, x: Double) {
        self.id = id
        self.x = x
    }
}

final class Ship: Body {
    var armour = 5
    var crew: [String] = ["captain", "gunner", "engineer"]
}

final class Trail {
    private var points: [Double] = []
    func extend(_ x: Double) {
        points.append(x)
        if points.count > 20 { points.removeFirst() }
    }
}

final class Missile: Body {
    var target: Body?
    let trail = Trail()

    func advance() -> Bool {
        guard let target, target.intact else {
            intact = false
            return false
        }
        x += (target.x - x) * 0.5
        trail.extend(x)
        return abs(target.x - x) < 1
    }
}

final class Battle {
    private var ships: [Ship] = []
    private var missiles: [Missile] = []
    private var nextID = 0
    private(set) var hits = 0

    func addShip(x: Double) -> Ship {
        nextID += 1
        let ship = Ship(id: nextID, x: x)
        ships.append(ship)
        return ship
    }

    func launch(from x: Double, at target: Body?) -> Missile {
        nextID += 1
        let missile = Missile(id: nextID, x: x)
        missile.target = target
        missiles.append(missile)
        return missile
    }

    func defend(against incoming: Missile, from x: Double) {
        let interceptor = launch(from: x, at: incoming)
        incoming.target = interceptor
    }

    func tick() {
        for missile in missiles where missile.intact {
            guard missile.advance() else { continue }
            hits += 1
            missile.intact = false
            if let ship = missile.target as? Ship {
                ship.armour -= 1
                if ship.armour <= 0 { ship.intact = false }
            } else {
                missile.target?.intact = false
            }
        }
        missiles.removeAll { !$0.intact }
        ships.removeAll { !$0.intact }
    }

    var remaining: Int { missiles.count + ships.count }
}

let battle = Battle()
for wave in 0..<40 {
    let ship = battle.addShip(x: 200)
    let base = Double(wave % 5)
    for n in 0..<8 { _ = battle.launch(from: base + Double(n), at: ship) }
    let seeker = battle.launch(from: base, at: ship)
    battle.defend(against: seeker, from: 180)
    for _ in 0..<15 { battle.tick() }
    ship.intact = false
    battle.tick()
    Thread.sleep(forTimeInterval: 0.025)
}
print("hits \(battle.hits), in the air or afloat \(battle.remaining)")
