final class Ticket {
    let number: Int
    let topic: String
    let opened: Int
    let effort: Int

    init(number: Int, topic: String, opened: Int, effort: Int) {
        self.number = number
        self.topic = topic
        self.opened = opened
        self.effort = effort
    }
}

final class Agent {
    let name: String
    let skills: [String]
    private var current: Ticket?
    private var remaining = 0
    private(set) var solved = 0

    init(name: String, skills: [String]) {
        self.name = name
        self.skills = skills
    }

    var isFree: Bool { current == nil }

    func pickUp(_ ticket: Ticket) {
        current = ticket
        remaining = ticket.effort
    }

    func work() -> Ticket? {
        guard let ticket = current else { return nil }
        remaining -= 1
        guard remaining <= 0 else { return nil }
        current = nil
        solved += 1
        return ticket
    }
}

final class Helpdesk {
    private var lines: [String: [Ticket]] = [:]
    private let agents: [Agent]
    private var issued = 0
    private(set) var withdrawn = 0
    private(set) var longestWait = 0

    init(agents: [Agent]) {
        self.agents = agents
    }

    func open(topic: String, at minute: Int, effort: Int) -> Int {
        issued += 1
        lines[topic, default: []].append(Ticket(number: issued, topic: topic, opened: minute, effort: effort))
        return issued
    }

    func withdraw(_ number: Int, topic: String) {
        guard var line = lines[topic], let place = line.firstIndex(where: { $0.number == number }) else { return }
        line.remove(at: place)
        lines[topic] = line.isEmpty ? nil : line
        withdrawn += 1
    }

    func minute(_ now: Int) {
        for agent in agents {
            if let ticket = agent.work() {
                longestWait = max(longestWait, now - ticket.opened)
            }
            if agent.isFree, let ticket = next(for: agent) {
                agent.pickUp(ticket)
            }
        }
    }

    private func next(for agent: Agent) -> Ticket? {
        let known = agent.skills.filter { lines[$0] != nil }
        guard let topic = known.min(by: { lines[$0]![0].opened < lines[$1]![0].opened }) else { return nil }
        let ticket = lines[topic]!.removeFirst()
        if lines[topic]!.isEmpty { lines[topic] = nil }
        return ticket
    }

    var isQuiet: Bool { lines.isEmpty && agents.allSatisfy(\.isFree) }
    var waiting: Int { lines.values.reduce(0) { $0 + $1.count } }
    var team: [String] { agents.map { "\($0.name) solved \($0.solved)" } }
}

let desk = Helpdesk(agents: [
    Agent(name: "Ines", skills: ["network", "printer"]),
    Agent(name: "Omar", skills: ["accounts", "network"]),
    Agent(name: "Ruth", skills: ["printer", "accounts", "phones"]),
])
let topics = ["network", "printer", "accounts", "phones", "network"]

var peak = 0
var now = 0
for day in 0..<8 {
    for minute in 0..<160 {
        now += 1
        if minute < 110 || minute % 3 == 0 {
            let topic = topics[(minute * 3 + day) % topics.count]
            let number = desk.open(topic: topic, at: now, effort: 3 + (minute + day) % 6)
            if number % 13 == 0 { desk.withdraw(number, topic: topic) }
        }
        desk.minute(now)
        peak = max(peak, desk.waiting)
    }
    while !desk.isQuiet {
        now += 1
        desk.minute(now)
    }
}

desk.team.forEach { print($0) }
print("withdrawn \(desk.withdrawn), peak line \(peak), longest wait \(desk.longestWait) minutes")
