import Foundation

enum Trigger: Hashable {
    case motion(Int)
    case temperature(Int)
    case clock(Int)
}

final class HouseEvent {
    let trigger: Trigger
    let value: Int
    let time: Int
    init(_ t: Trigger, value: Int, time: Int) {
        trigger = t
        self.value = value
        self.time = time
    }
}

final class Lamp {
    let room: Int
    private(set) var level = 0
    private(set) var switches = 0
    init(room: Int) { self.room = room }
    func set(_ n: Int) {
        if n != level { switches += 1 }
        level = n
    }
}

final class Heater {
    let room: Int
    private(set) var target = 19
    private(set) var consumption = 0
    init(room: Int) { self.room = room }
    func adjust(_ t: Int) { target = t }
    func tick() { consumption += max(0, target - 15) }
}

final class Rule {
    let name: String
    let trigger: Trigger
    private let condition: (HouseEvent) -> Bool
    private let action: (HouseEvent) -> Void
    private(set) var fired = 0
    private var lastFired = -100
    private let cooldown: Int

    init(name: String, trigger: Trigger, cooldown: Int, condition: @escaping (HouseEvent) -> Bool, action: @escaping (HouseEvent) -> Void) {
        self.name = name
        self.trigger = trigger
        self.cooldown = cooldown
        self.condition = condition
        self.action = action
    }

    func handle(_ e: HouseEvent) -> Bool {
        guard e.time - lastFired >= cooldown, condition(e) else { return false }
        lastFired = e.time
        fired += 1
        action(e)
        return true
    }
}

final class JournalEntry {
    let rule: String
    let time: Int
    init(rule: String, time: Int) {
        self.rule = rule
        self.time = time
    }
}

final class Engine {
    private var rules: [Trigger: [Rule]] = [:]
    private var journal: [JournalEntry] = []
    private var inbox: [HouseEvent] = []
    private(set) var ruleCount = 0
    private(set) var handled = 0
    private(set) var idleEvents = 0

    func register(_ r: Rule) {
        rules[r.trigger, default: []].append(r)
        ruleCount += 1
    }

    func post(_ e: HouseEvent) { inbox.append(e) }

    func dispatch() {
        let batch = inbox
        inbox.removeAll()
        for e in batch {
            guard let list = rules[e.trigger] else {
                idleEvents += 1
                continue
            }
            for r in list where r.handle(e) { write(r, e.time) }
            handled += 1
        }
    }

    private func write(_ r: Rule, _ time: Int) {
        journal.append(JournalEntry(rule: r.name, time: time))
        if journal.count > 100 { journal.removeFirst() }
    }

    func busiest() -> Rule? {
        rules.values.joined().max { ($0.fired, $1.name) < ($1.fired, $0.name) }
    }

    var latest: String { journal.last.map { "\($0.rule)@\($0.time)" } ?? "-" }
}

final class Home {
    private let engine = Engine()
    private var lamps: [Int: Lamp] = [:]
    private var heaters: [Int: Heater] = [:]
    private var rooms = 0

    func addRoom() {
        let room = rooms
        rooms += 1
        let lamp = Lamp(room: room)
        let heater = Heater(room: room)
        lamps[room] = lamp
        heaters[room] = heater
        engine.register(Rule(name: "light-\(room)", trigger: .motion(room), cooldown: 3, condition: { $0.value > 2 }) { e in
            lamp.set(min(100, e.value * 10))
        })
        engine.register(Rule(name: "dark-\(room)", trigger: .motion(room), cooldown: 1, condition: { $0.value <= 2 }) { _ in
            lamp.set(0)
        })
        engine.register(Rule(name: "warm-\(room)", trigger: .temperature(room), cooldown: 10, condition: { $0.value < 18 }) { _ in
            heater.adjust(22)
        })
        engine.register(Rule(name: "cool-\(room)", trigger: .temperature(room), cooldown: 10, condition: { $0.value > 22 }) { _ in
            heater.adjust(16)
        })
        if room % 3 == 0 {
            engine.register(Rule(name: "night-\(room)", trigger: .clock(22), cooldown: 20, condition: { _ in true }) { _ in
                lamp.set(5)
                heater.adjust(17)
            })
        }
    }

    func step(_ time: Int) {
        if time % 11 == 0 { addRoom() }
        for r in 0..<rooms {
            if (r * 5 + time) % 7 == 0 { engine.post(HouseEvent(.motion(r), value: (r + time) % 11, time: time)) }
            if (r + time) % 13 == 0 { engine.post(HouseEvent(.temperature(r), value: 14 + (r * 3 + time / 5) % 12, time: time)) }
        }
        if time % 24 < 24 { engine.post(HouseEvent(.clock(time % 24), value: 0, time: time)) }
        engine.dispatch()
        for h in heaters.values { h.tick() }
    }

    func report() {
        let used = heaters.values.reduce(0) { $0 + $1.consumption }
        let switches = lamps.values.reduce(0) { $0 + $1.switches }
        let best = engine.busiest()
        print("rooms \(rooms) rules \(engine.ruleCount) handled \(engine.handled) ignored \(engine.idleEvents)")
        print("consumption \(used) switches \(switches) busiest \(best?.name ?? "-") \(best?.fired ?? 0) latest \(engine.latest)")
    }
}

func live() {
    let home = Home()
    for time in 0..<700 {
        home.step(time)
        usleep(3_000)
    }
    home.report()
}

live()
