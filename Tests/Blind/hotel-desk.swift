// Front desk of a small hotel chain: bookings, changes of date, arrivals and departures.

enum RoomKind: Int, CaseIterable {
    case single, double, suite

    var nightlyRate: Int {
        switch self {
        case .single: return 79
        case .double: return 119
        case .suite: return 240
        }
    }
}

struct Guest {
    let name: String
    let loyalty: Int
}

final class Reservation {
    let guest: Guest
    let room: Int
    let kind: RoomKind
    var arrivalDay: Int
    var nights: Int
    var extras: [String] = []

    init(guest: Guest, room: Int, kind: RoomKind, arrivalDay: Int, nights: Int) {
        self.guest = guest
        self.room = room
        self.kind = kind
        self.arrivalDay = arrivalDay
        self.nights = nights
    }

    var departureDay: Int { arrivalDay + nights }

    var total: Int {
        let gross = nights * kind.nightlyRate + extras.count * 12
        return gross - gross * guest.loyalty / 100
    }
}

struct BookingKey: Hashable {
    let day: Int
    let room: Int
    let guest: String

    init(_ reservation: Reservation) {
        day = reservation.arrivalDay
        room = reservation.room
        guest = reservation.guest.name
    }
}

final class FrontDesk {
    private var book: [BookingKey: Reservation] = [:]
    private var departures: [Int: [Reservation]] = [:]
    private(set) var revenue = 0
    private(set) var stays = 0
    private(set) var moved = 0

    func reserve(_ guest: Guest, room: Int, kind: RoomKind, day: Int, nights: Int) -> BookingKey {
        let reservation = Reservation(guest: guest, room: room, kind: kind, arrivalDay: day, nights: nights)
        let key = BookingKey(reservation)
        book[key] = reservation
        departures[reservation.departureDay, default: []].append(reservation)
        return key
    }

    func addExtra(_ extra: String, to key: BookingKey) {
        book[key]?.extras.append(extra)
    }

    func reschedule(_ key: BookingKey, by days: Int) {
        guard let reservation = book[key] else { return }
        departures[reservation.departureDay]?.removeAll { $0 === reservation }
        reservation.arrivalDay += days
        departures[reservation.departureDay, default: []].append(reservation)
        moved += 1
    }

    func closeDay(_ day: Int) {
        guard let leaving = departures.removeValue(forKey: day) else { return }
        for reservation in leaving {
            checkOut(reservation)
        }
    }

    private func checkOut(_ reservation: Reservation) {
        revenue += reservation.total
        stays += 1
        book.removeValue(forKey: BookingKey(reservation))
    }
}

struct Dice {
    var state: UInt64 = 4242

    mutating func next(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}

let desk = FrontDesk()
var dice = Dice()
let extras = ["breakfast", "parking", "late checkout", "sauna", "minibar"]
let lastDay = 365
var bookings = 0

for day in 1...350 {
    for slot in 0..<4 {
        let kind = RoomKind.allCases[dice.next(RoomKind.allCases.count)]
        let guest = Guest(name: "Guest \(day)-\(slot)", loyalty: dice.next(3) * 5)
        let key = desk.reserve(guest, room: 100 + dice.next(60), kind: kind, day: day + 2, nights: 1 + dice.next(5))
        bookings += 1
        for _ in 0..<dice.next(4) {
            desk.addExtra(extras[dice.next(extras.count)], to: key)
        }
        if slot == day % 4 {
            desk.reschedule(key, by: 1 + dice.next(4))
        }
    }
    desk.closeDay(day)
}
for day in 351...lastDay {
    desk.closeDay(day)
}

print("bookings \(bookings), changed \(desk.moved), stays \(desk.stays)")
print("revenue \(desk.revenue) EUR, average \(desk.revenue / max(1, desk.stays)) EUR per stay")
