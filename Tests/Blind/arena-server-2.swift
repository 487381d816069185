import Foundation

// Authoritative arena server: applies player input to the world state and sends each client the
// difference between the last two states.

struct Body: Equatable {
    var x: Float
    var y: Float
    var vx: Float
    var vy: Float
    var health: Int16
}

enum Command: UInt8 { case none, left, right, jump, fire }

final class InputFrame {
    let tick: Int
    let commands: [Command]
    let base: StateFrame

    init(tick: Int, commands: [Command], base: StateFrame) {
        self.tick = tick
        self.commands = commands
        self.base = base
    }
}

final class StateFrame {
    let tick: Int
    let bodies: [Body]
    let cause: InputFrame?

    init(tick: Int, bodies: [Body], cause: InputFrame?) {
        self.tick = tick
        self.bodies = bodies
        self.cause = cause
    }

    var digest: UInt32 {
        bodies.reduce(UInt32(tick)) { hash, body in
            ((hash << 7 | hash >> 25) ^ body.x.bitPattern) &+ body.y.bitPattern ^ UInt32(UInt16(bitPattern: body.health))
        }
    }
}

struct Physics {
    let step: Float = 1 / 60
    let width: Float = 120

    func advance(_ input: InputFrame) -> StateFrame {
        var bodies = input.base.bodies
        for index in bodies.indices {
            switch input.commands[index] {
            case .left: bodies[index].vx -= 4
            case .right: bodies[index].vx += 4
            case .jump where bodies[index].y <= 0: bodies[index].vy = 9
            case .fire: hit(from: index, in: &bodies)
            default: break
            }
            bodies[index].vy -= 9.81 * step
            bodies[index].x += bodies[index].vx * step
            bodies[index].y = max(0, bodies[index].y + bodies[index].vy * step)
            if bodies[index].x < 0 || bodies[index].x > width { bodies[index].vx.negate() }
            bodies[index].vx *= 0.98
            if bodies[index].health <= 0 {
                bodies[index] = Body(x: Float(index * 11), y: 12, vx: 0, vy: 0, health: 100)
            }
        }
        return StateFrame(tick: input.tick + 1, bodies: bodies, cause: input)
    }

    private func hit(from shooter: Int, in bodies: inout [Body]) {
        for index in bodies.indices where index != shooter {
            let dx = bodies[index].x - bodies[shooter].x, dy = bodies[index].y - bodies[shooter].y
            if dx * dx + dy * dy < 64 { bodies[index].health -= 7 }
        }
    }
}

final class Arena {
    private let physics = Physics()
    private var current: StateFrame
    private(set) var bytesSent = 0

    init(players: Int) {
        let bodies = (0..<players).map { Body(x: Float($0 * 9), y: 3, vx: 0, vy: 0, health: 100) }
        current = StateFrame(tick: 0, bodies: bodies, cause: nil)
    }

    func run(_ commands: [Command]) {
        let input = InputFrame(tick: current.tick, commands: commands, base: current)
        current = physics.advance(input)
        bytesSent += delta()
    }

    /// Size of the packet with the bodies that differ from the previous state.
    private func delta() -> Int {
        guard let previous = current.cause?.base else { return current.bodies.count * 18 }
        let changed = zip(previous.bodies, current.bodies).filter { $0 != $1 }.count
        return 6 + changed * 18
    }

    var status: String { "tick \(current.tick), sent \(bytesSent), digest \(String(current.digest, radix: 16))" }
}

let arena = Arena(players: 12)
var dice: UInt32 = 0x1234_5678

for frame in 0..<200 {
    for _ in 0..<6 {
        let commands = (0..<12).map { _ -> Command in
            dice = dice &* 1_103_515_245 &+ 12_345
            return Command(rawValue: UInt8((dice >> 16) % 5)) ?? .none
        }
        arena.run(commands)
    }
    if frame % 100 == 99 { print(arena.status) }
    Thread.sleep(forTimeInterval: 0.005)
}
