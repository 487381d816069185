import Foundation
import Dispatch

struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

struct Cell: Hashable {
    var lane: Int
    var column: Int
}

class Entity {
    let id: Int
    var cell: Cell
    var hitPoints: Int

    init(id: Int, cell: Cell, hitPoints: Int) {
        self.id = id
        self.cell = cell
        self.hitPoints = hitPoints
    }

    var isAlive: Bool { hitPoints > 0 }
    func step(in world: World) {}
}

final class Creep: Entity {
    let damage: Int
    let siege: Bool
    let bounty: Int

    init(id: Int, lane: Int, siege: Bool, bounty: Int) {
        self.siege = siege
        self.damage = siege ? 60 : 4
        self.bounty = bounty
        super.init(id: id, cell: Cell(lane: lane, column: 0), hitPoints: siege ? 400 : 60)
    }

    override func step(in world: World) {
        let ahead = Cell(lane: cell.lane, column: cell.column + 1)
        if let turret = world.turret(at: ahead) {
            turret.hitPoints -= damage
            if !turret.isAlive { world.destroyed(turret) }
        } else if ahead.column >= world.columns {
            world.escaped += 1
            hitPoints = 0
        } else {
            cell = ahead
        }
    }
}

final class Turret: Entity {
    let range: Int
    let power: Int
    var shots = 0
    private var beacon: DispatchSourceTimer?
    private(set) var minimapGlyphs: [UInt8] = Array(repeating: 0x2E, count: 64)
    private var phase = 0

    init(id: Int, cell: Cell, range: Int, power: Int, queue: DispatchQueue) {
        self.range = range
        self.power = power
        super.init(id: id, cell: cell, hitPoints: 120)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(50))
        timer.setEventHandler { self.blink() }
        timer.resume()
        beacon = timer
    }

    private func blink() {
        phase = (phase + 1) % minimapGlyphs.count
        minimapGlyphs[phase] ^= 0x10
    }

    func powerDown() {
        beacon?.cancel()
        beacon = nil
    }

    override func step(in world: World) {
        guard let target = world.nearestCreep(to: cell, within: range) else { return }
        shots += 1
        target.hitPoints -= power
        if !target.isAlive { world.killed(target) }
    }
}

final class World {
    let columns = 12
    let lanes = 8
    let queue: DispatchQueue
    private var turrets: [Cell: Turret] = [:]
    private var creeps: [Int: Creep] = [:]
    private var nextID = 1
    private var dice = SeededGenerator(state: 0x9E37_79B9_7F4A_7C15)
    var gold = 1_000
    var escaped = 0
    var kills = 0
    var losses = 0
    var sold = 0

    init(queue: DispatchQueue) { self.queue = queue }

    private func takeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    func build(at cell: Cell) {
        gold -= 50
        turrets[cell] = Turret(id: takeID(), cell: cell, range: 3, power: 9 + cell.lane % 3, queue: queue)
    }

    func spawn(lane: Int, siege: Bool) {
        let creep = Creep(id: takeID(), lane: lane, siege: siege, bounty: Int.random(in: 8...14, using: &dice))
        creeps[creep.id] = creep
    }

    func turret(at cell: Cell) -> Turret? { turrets[cell] }

    func nearestCreep(to cell: Cell, within range: Int) -> Creep? {
        creeps.values
            .filter { $0.cell.lane == cell.lane && abs($0.cell.column - cell.column) <= range }
            .min { ($0.cell.column, $0.id) > ($1.cell.column, $1.id) }
    }

    func killed(_ creep: Creep) {
        kills += 1
        gold += creep.bounty
        creeps[creep.id] = nil
    }

    func destroyed(_ turret: Turret) {
        losses += 1
        turrets[turret.cell] = nil
    }

    func sell(_ turret: Turret) {
        turret.powerDown()
        turrets[turret.cell] = nil
        gold += 25
        sold += 1
    }

    func step() {
        for turret in turrets.values.sorted(by: { $0.id < $1.id }) { turret.step(in: self) }
        for creep in creeps.values.sorted(by: { $0.id < $1.id }) {
            creep.step(in: self)
            if !creep.isAlive { creeps[creep.id] = nil }
        }
    }

    func endWave() {
        for turret in turrets.values.sorted(by: { $0.id < $1.id }) { sell(turret) }
        creeps.removeAll()
    }
}

let simulation = DispatchQueue(label: "tower.simulation")
let world = World(queue: simulation)

for wave in 0..<40 {
    simulation.sync {
        for lane in 0..<world.lanes {
            world.build(at: Cell(lane: lane, column: 6))
        }
        let besieged = [wave % world.lanes, (wave + 3) % world.lanes]
        for lane in 0..<world.lanes {
            if besieged.contains(lane) {
                world.spawn(lane: lane, siege: true)
            } else {
                world.spawn(lane: lane, siege: false)
                world.spawn(lane: lane, siege: false)
            }
        }
    }
    for _ in 0..<12 {
        simulation.sync { world.step() }
        usleep(2_000)
    }
    simulation.sync { world.endWave() }
}

simulation.sync {
    print("gold=\(world.gold) kills=\(world.kills) through=\(world.escaped) lost=\(world.losses) sold=\(world.sold)")
}
