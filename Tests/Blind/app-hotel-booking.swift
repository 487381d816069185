import Foundation

final class Guest {
    let passport: String
    var points = 0
    init(passport: String) { self.passport = passport }
}

final class RoomUnit {
    let number: Int
    let rate: Int
    var occupiedUntil = 0
    init(number: Int, rate: Int) {
        self.number = number
        self.rate = rate
    }
}

final class Booking {
    let code: Int
    let passport: String
    let arrival: Int
    let nights: Int
    init(code: Int, passport: String, arrival: Int, nights: Int) {
        self.code = code
        self.passport = passport
        self.arrival = arrival
        self.nights = nights
    }
}

final class Folio {
    let booking: Booking
    let room: RoomUnit
    private(set) var lines: [(text: String, amount: Int)] = []
    init(booking: Booking, room: RoomUnit) {
        self.booking = booking
        self.room = room
    }
    func charge(_ text: String, _ amount: Int) { lines.append((text, amount)) }
    var total: Int { lines.reduce(0) { $0 + $1.amount } }
}

final class Stay {
    let passport: String
    let departure: Int
    let room: Int
    let paid: Int
    init(passport: String, departure: Int, room: Int, paid: Int) {
        self.passport = passport
        self.departure = departure
        self.room = room
        self.paid = paid
    }
}

final class GuestHistory {
    private var stays: [String: [Stay]] = [:]
    private(set) var total = 0
    func add(_ stay: Stay) {
        stays[stay.passport, default: []].append(stay)
        total += 1
    }
    func stays(of passport: String) -> [Stay] { stays[passport] ?? [] }
}

final class Hotel {
    private let rooms: [RoomUnit]
    private var arrivals: [Int: [Booking]] = [:]
    private var inHouse: [Int: Folio] = [:]
    private var guests: [String: Guest] = [:]
    private let history = GuestHistory()
    private var codes = 0
    private var cancelled = 0
    private var turnedAway = 0
    private var upgrades = 0
    private var revenue = 0

    init(rooms count: Int) {
        rooms = (0..<count).map { RoomUnit(number: 100 + $0, rate: 70 + $0 * 6) }
    }

    func book(passport: String, arrival: Int, nights: Int) -> Int {
        codes += 1
        arrivals[arrival, default: []].append(Booking(code: codes, passport: passport, arrival: arrival, nights: nights))
        return codes
    }

    func cancel(_ code: Int, arrival: Int) {
        let before = arrivals[arrival]?.count ?? 0
        arrivals[arrival]?.removeAll { $0.code == code }
        cancelled += before - (arrivals[arrival]?.count ?? 0)
    }

    private func checkIn(_ booking: Booking, day: Int) {
        let guest = guests[booking.passport] ?? Guest(passport: booking.passport)
        guests[booking.passport] = guest
        let earlier = history.stays(of: booking.passport)
        let loyal = earlier.count >= 3 && earlier.reduce(0) { $0 + $1.paid } > 700
        let free = rooms.filter { $0.occupiedUntil <= day }
        guard let room = loyal ? free.last : free.first else {
            turnedAway += 1
            return
        }
        if loyal { upgrades += 1 }
        room.occupiedUntil = day + booking.nights
        let folio = Folio(booking: booking, room: room)
        if let favourite = earlier.last?.room, favourite == room.number { folio.charge("welcome back", -5) }
        inHouse[room.number] = folio
    }

    func day(_ day: Int) {
        for (number, folio) in inHouse.sorted(by: { $0.key < $1.key }) {
            let booking = folio.booking
            if day - booking.arrival >= booking.nights {
                revenue += folio.total
                guests[booking.passport]?.points += folio.total / 10
                history.add(Stay(passport: booking.passport, departure: day, room: number, paid: folio.total))
                inHouse[number] = nil
            } else {
                folio.charge("night \(day)", folio.room.rate)
                if (day + number) % 4 == 0 { folio.charge("bar", 18) }
            }
        }
        for booking in arrivals.removeValue(forKey: day) ?? [] {
            checkIn(booking, day: day)
            inHouse.values.first { $0.booking === booking }?.charge("night \(day)", 60)
        }
    }

    func summary() -> String {
        "stays \(history.total), revenue \(revenue), upgrades \(upgrades), cancelled \(cancelled), turned away \(turnedAway), guests \(guests.count)"
    }
}

func season() {
    let hotel = Hotel(rooms: 14)
    for day in 0..<420 {
        for n in 0..<3 {
            let passport = "P\((day * 19 + n * 71) % 240)"
            let arrival = day + 1 + (day + n) % 9
            let code = hotel.book(passport: passport, arrival: arrival, nights: 1 + (day * n) % 4)
            if (day + n * 5) % 11 == 0 { hotel.cancel(code, arrival: arrival) }
        }
        hotel.day(day)
        usleep(4300)
    }
    print(hotel.summary())
}

season()
