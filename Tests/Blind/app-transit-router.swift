import Foundation

final class Station {
    let id: Int
    let name: String
    private(set) var edges: [Edge] = []
    init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
    func connect(to other: Station, minutes: Int, line: String) {
        edges.append(Edge(target: other, minutes: minutes, line: line))
    }
}

final class Edge {
    unowned let target: Station
    let minutes: Int
    let line: String
    init(target: Station, minutes: Int, line: String) {
        self.target = target
        self.minutes = minutes
        self.line = line
    }
}

final class Journey {
    let from: Int
    let to: Int
    let minutes: Int
    let lines: [String]
    var lastUse = 0
    init(from: Int, to: Int, minutes: Int, lines: [String]) {
        self.from = from
        self.to = to
        self.minutes = minutes
        self.lines = lines
    }
}

final class Ticket {
    let serial: Int
    let validUntil: Int
    let price: Int
    let journey: Journey
    init(serial: Int, validUntil: Int, price: Int, journey: Journey) {
        self.serial = serial
        self.validUntil = validUntil
        self.price = price
        self.journey = journey
    }
}

final class Network {
    private var stations: [Station] = []

    init(count: Int) {
        for id in 0..<count { stations.append(Station(id: id, name: "Station \(id)")) }
        for id in 0..<count {
            link(id, (id + 1) % count, minutes: 3 + id % 4, line: "ring")
            if id % 6 == 0 { link(id, (id + count / 2) % count, minutes: 14, line: "express") }
            if id % 5 == 0 { link(id, (id * 3 + 7) % count, minutes: 9, line: "tram \(id % 3)") }
        }
    }

    private func link(_ a: Int, _ b: Int, minutes: Int, line: String) {
        guard a != b else { return }
        stations[a].connect(to: stations[b], minutes: minutes, line: line)
        stations[b].connect(to: stations[a], minutes: minutes, line: line)
    }

    func route(from: Int, to: Int) -> Journey {
        var distance = [Int](repeating: Int.max, count: stations.count)
        var via = [(Int, String)?](repeating: nil, count: stations.count)
        var open: Set<Int> = [from]
        distance[from] = 0
        while let current = open.min(by: { distance[$0] < distance[$1] }) {
            open.remove(current)
            if current == to { break }
            for edge in stations[current].edges {
                let total = distance[current] + edge.minutes
                if total < distance[edge.target.id] {
                    distance[edge.target.id] = total
                    via[edge.target.id] = (current, edge.line)
                    open.insert(edge.target.id)
                }
            }
        }
        var lines: [String] = []
        var here = to
        while let (previous, line) = via[here], here != from {
            if lines.last != line { lines.append(line) }
            here = previous
        }
        return Journey(from: from, to: to, minutes: distance[to], lines: lines.reversed())
    }
}

final class JourneyCache {
    private var table: [Int: Journey] = [:]
    private let capacity: Int
    private(set) var hits = 0
    init(capacity: Int) { self.capacity = capacity }

    func journey(from: Int, to: Int, now: Int, make: () -> Journey) -> Journey {
        let key = from * 1000 + to
        if let known = table[key] {
            hits += 1
            known.lastUse = now
            return known
        }
        if table.count >= capacity {
            let old = table.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(capacity / 4)
            for (key, _) in old { table[key] = nil }
        }
        let journey = make()
        journey.lastUse = now
        table[key] = journey
        return journey
    }
}

final class TicketOffice {
    private let network: Network
    private let cache = JourneyCache(capacity: 100)
    private var valid: [Int: Ticket] = [:]
    private var expiry: [Int: [Int]] = [:]
    private var serial = 0
    private var revenue: [String: Int] = [:]
    private var inspected = 0

    init(network: Network) { self.network = network }

    func sell(from: Int, to: Int, now: Int) -> Int {
        let journey = cache.journey(from: from, to: to, now: now) { network.route(from: from, to: to) }
        serial += 1
        let ticket = Ticket(serial: serial, validUntil: now + journey.minutes + 20, price: 120 + journey.minutes * 7, journey: journey)
        valid[serial] = ticket
        expiry[ticket.validUntil, default: []].append(serial)
        return serial
    }

    func inspect(_ serial: Int) -> Bool {
        inspected += 1
        return valid[serial] != nil
    }

    func minute(_ now: Int) {
        for serial in expiry.removeValue(forKey: now) ?? [] {
            guard let ticket = valid.removeValue(forKey: serial) else { continue }
            let share = ticket.price / max(1, ticket.journey.lines.count)
            for line in ticket.journey.lines { revenue[line, default: 0] += share }
        }
    }

    func report() {
        print("sold \(serial), valid \(valid.count), inspected \(inspected), cache hits \(cache.hits)")
        print(revenue.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value / 100)" }.joined(separator: ", "))
    }
}

func operate() {
    let office = TicketOffice(network: Network(count: 48))
    var seed = 5
    var honest = 0
    for now in 0..<750 {
        for _ in 0..<2 {
            seed = (seed * 75 + 74) % 65_537
            let from = seed % 3 == 0 ? seed % 8 : seed % 48
            let to = (from + 1 + seed / 50 % 46) % 48
            let serial = office.sell(from: from, to: to, now: now)
            if serial % 9 == 0, office.inspect(serial - seed % 60) { honest += 1 }
        }
        office.minute(now)
        usleep(2300)
    }
    office.report()
    print("honest \(honest)")
}

operate()
