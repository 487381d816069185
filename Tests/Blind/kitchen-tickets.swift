import Foundation

enum Course: String, CaseIterable {
    case cold, grill, pastry, bar
}

struct Dish {
    let name: String
    let course: Course
    let minutes: Int
}

final class TicketNode {
    let table: Int
    let dish: Dish
    let postedAt: Int
    var next: TicketNode?

    init(table: Int, dish: Dish, postedAt: Int) {
        self.table = table
        self.dish = dish
        self.postedAt = postedAt
    }
}

/// FIFO of tickets, one per station.
final class TicketRail {
    private var head: TicketNode?
    private var tail: TicketNode?

    func post(_ node: TicketNode) {
        if let last = tail {
            last.next = node
        } else {
            head = node
        }
        tail = node
    }

    func take() -> TicketNode? {
        guard let first = head else { return nil }
        head = first.next
        if head == nil { tail = nil }
        first.next = nil
        return first
    }
}

final class Station {
    let course: Course
    let lastOrderMinute: Int
    let rail = TicketRail()
    private(set) var plated = 0
    private(set) var waitTotal = 0

    init(course: Course, lastOrderMinute: Int) {
        self.course = course
        self.lastOrderMinute = lastOrderMinute
    }

    func work(minute: Int, hands: Int) {
        if minute >= lastOrderMinute { return }
        for _ in 0..<hands {
            guard let ticket = rail.take() else { break }
            plated += 1
            waitTotal += minute - ticket.postedAt + ticket.dish.minutes
        }
    }
}

final class Pass {
    private let stations: [Course: Station]
    private(set) var posted = 0

    init(stations: [Station]) {
        self.stations = Dictionary(uniqueKeysWithValues: stations.map { ($0.course, $0) })
    }

    func send(table: Int, dish: Dish, minute: Int) {
        guard let station = stations[dish.course] else { return }
        station.rail.post(TicketNode(table: table, dish: dish, postedAt: minute))
        posted += 1
    }
}

let menu = [
    Dish(name: "beet carpaccio", course: .cold, minutes: 4),
    Dish(name: "hanger steak", course: .grill, minutes: 14),
    Dish(name: "plum galette", course: .pastry, minutes: 9),
    Dish(name: "vermouth spritz", course: .bar, minutes: 2),
]
let evening = 360
let stations = [
    Station(course: .cold, lastOrderMinute: evening),
    Station(course: .grill, lastOrderMinute: evening),
    Station(course: .pastry, lastOrderMinute: 120),
    Station(course: .bar, lastOrderMinute: evening),
]
let pass = Pass(stations: stations)

for minute in 0..<evening {
    for seat in 0..<2 {
        for dish in menu {
            pass.send(table: (minute + seat * 11) % 28 + 1, dish: dish, minute: minute)
        }
    }
    for station in stations {
        station.work(minute: minute, hands: 3)
    }
}

print("tickets sent to the line: \(pass.posted)")
for station in stations {
    let mean = station.plated == 0 ? 0 : Double(station.waitTotal) / Double(station.plated)
    print(String(format: "%@: plated %d, mean time %.1f min", station.course.rawValue, station.plated, mean))
}
