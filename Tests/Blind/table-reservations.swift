import Foundation

enum Area: String, CaseIterable {
    case terrace = "A", hall = "B", bar = "C"
}

struct TableLabel: Hashable, CustomStringConvertible {
    let area: Area
    let number: Int
    var description: String { "\(area.rawValue)\(number)" }
}

struct OrderLine {
    let dish: String
    let cents: Int
}

final class Reservation {
    let number: Int
    let guest: String
    let partySize: Int
    var table: TableLabel
    var orders: [OrderLine] = []

    init(number: Int, guest: String, partySize: Int, table: TableLabel) {
        self.number = number
        self.guest = guest
        self.partySize = partySize
        self.table = table
    }

    var totalCents: Int { orders.reduce(0) { $0 + $1.cents } }
}

struct Receipt {
    let number: Int
    let table: String
    let cents: Int
}

final class FloorPlan {
    private var byTable: [TableLabel: [Reservation]] = [:]
    let tables: [TableLabel]

    init() {
        tables = Area.allCases.flatMap { area in
            (1...8).map { TableLabel(area: area, number: $0) }
        }
    }

    func seat(_ reservation: Reservation) {
        byTable[reservation.table, default: []].append(reservation)
    }

    func move(_ reservation: Reservation, to table: TableLabel) {
        reservation.table = table
    }

    func release(_ reservation: Reservation) {
        guard var seated = byTable[reservation.table] else { return }
        if let index = seated.firstIndex(where: { $0 === reservation }) {
            seated.remove(at: index)
        }
        byTable[reservation.table] = seated.isEmpty ? nil : seated
    }
}

struct Kitchen {
    let menu: [(String, Int)] = [
        ("soup", 650), ("risotto", 1490), ("trout", 2150), ("salad", 890), ("tart", 720),
    ]

    func order(for reservation: Reservation) {
        for seat in 0..<reservation.partySize {
            let (dish, cents) = menu[(reservation.number + seat) % menu.count]
            reservation.orders.append(OrderLine(dish: "\(dish) #\(seat)", cents: cents))
        }
    }
}

final class Restaurant {
    let plan = FloorPlan()
    let kitchen = Kitchen()
    private(set) var revenue = 0
    private(set) var served = 0
    private var nextNumber = 1
    private let names = ["Okafor", "Lindgren", "Marchetti", "Sato", "Dubois", "Novak", "Reyes"]

    private func take(slot: Int, position: Int) -> Reservation {
        let number = nextNumber
        nextNumber += 1
        let table = plan.tables[(slot * 5 + position) % plan.tables.count]
        return Reservation(
            number: number,
            guest: "\(names[number % names.count])-\(number)",
            partySize: 2 + number % 4,
            table: table)
    }

    func runSlot(_ slot: Int) -> [Receipt] {
        var seated: [Reservation] = []
        for position in 0..<5 {
            let reservation = take(slot: slot, position: position)
            plan.seat(reservation)
            seated.append(reservation)
        }
        for reservation in seated {
            kitchen.order(for: reservation)
        }
        usleep(1500)
        // Guests at every fourth table ask for another place.
        for reservation in seated where reservation.number % 4 == 0 {
            let index = plan.tables.firstIndex(of: reservation.table)!
            plan.move(reservation, to: plan.tables[(index + 9) % plan.tables.count])
        }
        var receipts: [Receipt] = []
        for reservation in seated {
            receipts.append(Receipt(
                number: reservation.number,
                table: reservation.table.description,
                cents: reservation.totalCents))
            plan.release(reservation)
            served += 1
        }
        revenue += receipts.reduce(0) { $0 + $1.cents }
        return receipts
    }
}

let restaurant = Restaurant()
var largest = 0
for slot in 0..<240 {
    let receipts = restaurant.runSlot(slot)
    largest = max(largest, receipts.map(\.cents).max() ?? 0)
    usleep(1000)
}
print("served \(restaurant.served) parties, revenue \(restaurant.revenue / 100).\(restaurant.revenue % 100), largest bill \(largest)")
