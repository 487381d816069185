import Foundation

enum DoorState: String, Sendable {
    case closed, opening, open, closing, blocked
}

final class DoorEvent: Sendable {
    let door: Int
    let from: DoorState
    let to: DoorState
    let sequence: Int
    init(door: Int, from: DoorState, to: DoorState, sequence: Int) {
        self.door = door
        self.from = from
        self.to = to
        self.sequence = sequence
    }
}

final class Incident: Sendable {
    let event: DoorEvent
    let before: [DoorEvent]
    init(event: DoorEvent, before: [DoorEvent]) {
        self.event = event
        self.before = before
    }
}

actor IncidentLog {
    private var incidents: [Incident] = []

    func file(_ incident: Incident) { incidents.append(incident) }

    func digest() -> [String] {
        let perDoor = Dictionary(grouping: incidents) { $0.event.door }
        return perDoor.sorted { $0.key < $1.key }.prefix(3).map { door, list in
            let context = list.reduce(0) { $0 + $1.before.count }
            return "door \(door): \(list.count) incidents, \(context) events of context"
        }
    }
}

actor Door {
    let number: Int
    private var state = DoorState.closed
    private var history: [DoorEvent] = []
    private var sequence = 0
    private let log: IncidentLog
    private let historyLimit = 50

    init(number: Int, log: IncidentLog) {
        self.number = number
        self.log = log
    }

    private func go(to next: DoorState) async {
        let event = DoorEvent(door: number, from: state, to: next, sequence: sequence)
        sequence += 1
        state = next
        history.append(event)
        if history.count > historyLimit { history.removeFirst(history.count - historyLimit) }
        if next == .blocked {
            await log.file(Incident(event: event, before: Array(history.suffix(4).dropLast())))
        }
    }

    func cycle(obstacle: Bool) async {
        await go(to: .opening)
        await go(to: .open)
        await go(to: .closing)
        if obstacle {
            await go(to: .blocked)
            await go(to: .opening)
            await go(to: .open)
            await go(to: .closing)
        }
        await go(to: .closed)
    }

    func summary() -> (Int, Int) { (sequence, history.count) }
}

final class Sensor: Sendable {
    let door: Int
    init(door: Int) { self.door = door }
    func seesObstacle(_ round: Int) -> Bool { (round * 7 + door * 3) % 23 == 0 }
}

let log = IncidentLog()
let doors = (0..<8).map { Door(number: $0, log: log) }

@main
struct ControlRoom {
    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            for door in doors {
                group.addTask {
                    for round in 0..<250 {
                        let sensor = Sensor(door: door.number)
                        await door.cycle(obstacle: sensor.seesObstacle(round))
                        try? await Task.sleep(nanoseconds: 4_000_000)
                    }
                }
            }
        }
        var transitions = 0
        var remembered = 0
        for door in doors {
            let (all, kept) = await door.summary()
            transitions += all
            remembered += kept
        }
        print("transitions \(transitions), remembered \(remembered)")
        for line in await log.digest() { print(line) }
    }
}
