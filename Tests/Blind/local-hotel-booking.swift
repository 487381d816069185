import Foundation

enum BookingState { case waiting, confirmed, checkedIn, done, cancelled }

final class Guest {
    let email: String
    var points = 0
    init(email: String) { self.email = email }
}

final class Reservation {
    let code: String
    let guest: Guest
    let nights: Range<Int>
    var room: Int?
    var state: BookingState = .waiting
    var notes: [String] = []

    init(code: String, guest: Guest, nights: Range<Int>) {
        self.code = code
        self.guest = guest
        self.nights = nights
    }
}

final class RoomCalendar {
    let number: Int
    private var bookings: [Reservation] = []
    init(number: Int) { self.number = number }

    func isFree(_ nights: Range<Int>) -> Bool {
        !bookings.contains { $0.nights.overlaps(nights) }
    }
    func book(_ r: Reservation) { bookings.append(r); r.room = number }
    func release(_ r: Reservation) { bookings.removeAll { $0 === r } }
    func starting(on day: Int) -> [Reservation] { bookings.filter { $0.nights.lowerBound == day } }
    func ending(by day: Int) -> [Reservation] { bookings.filter { $0.nights.upperBound <= day } }
    var load: Int { bookings.count }
}

final class Ledger {
    private(set) var income = 0
    private(set) var refunds = 0
    func charge(_ r: Reservation) { income += r.nights.count * 120 }
    func refund(_ r: Reservation) { refunds += r.nights.count * 60 }
}

final class BookingDesk {
    private let rooms: [RoomCalendar]
    private var byCode: [String: Reservation] = [:]
    private var byGuest: [String: [Reservation]] = [:]
    private var waitingList: [Reservation] = []
    private let ledger = Ledger()
    private var serial = 0
    private(set) var stays = 0
    private(set) var cancelled = 0
    private(set) var rejected = 0

    init(roomCount: Int) {
        rooms = (1...roomCount).map { RoomCalendar(number: 100 + $0) }
    }

    func request(_ guest: Guest, nights: Range<Int>) -> String? {
        let mine = byGuest[guest.email, default: []].filter { $0.state == .confirmed }
        if mine.contains(where: { $0.nights.overlaps(nights) }) {
            rejected += 1
            return nil
        }
        serial += 1
        let r = Reservation(code: "R\(serial)", guest: guest, nights: nights)
        byCode[r.code] = r
        byGuest[guest.email, default: []].append(r)
        if !assign(r) {
            waitingList.append(r)
            r.notes.append("queued at position \(waitingList.count)")
        }
        return r.code
    }

    private func assign(_ r: Reservation) -> Bool {
        guard let room = rooms.first(where: { $0.isFree(r.nights) }) else { return false }
        room.book(r)
        r.state = .confirmed
        return true
    }

    func cancel(_ code: String) {
        guard let r = byCode.removeValue(forKey: code) else { return }
        cancelled += 1
        let wasWaiting = r.state == .waiting
        r.state = .cancelled
        if wasWaiting {
            waitingList.removeAll { $0 === r }
            return
        }
        ledger.refund(r)
        calendar(r)?.release(r)
        detachFromGuest(r)
        promote()
    }

    private func calendar(_ r: Reservation) -> RoomCalendar? {
        rooms.first { $0.number == r.room }
    }

    private func detachFromGuest(_ r: Reservation) {
        byGuest[r.guest.email]?.removeAll { $0 === r }
        if byGuest[r.guest.email]?.isEmpty == true { byGuest[r.guest.email] = nil }
    }

    private func promote() {
        waitingList.removeAll { assign($0) }
    }

    func endOfDay(_ day: Int) {
        for room in rooms {
            for r in room.starting(on: day) { r.state = .checkedIn }
            for r in room.ending(by: day) {
                r.state = .done
                r.guest.points += r.nights.count
                ledger.charge(r)
                room.release(r)
                byCode[r.code] = nil
                detachFromGuest(r)
                stays += 1
            }
        }
        promote()
        let expired = waitingList.filter { $0.nights.lowerBound <= day }
        for r in expired {
            byCode[r.code] = nil
            detachFromGuest(r)
            rejected += 1
        }
        waitingList.removeAll { $0.nights.lowerBound <= day }
    }

    var open: Int { byCode.count }
    var money: (Int, Int) { (ledger.income, ledger.refunds) }
}

final class Season {
    private let desk = BookingDesk(roomCount: 12)
    private let guests = (0..<90).map { Guest(email: "guest\($0)@mail.test") }
    private var codes: [String] = []
    private var seed = 7

    private func random(_ n: Int) -> Int {
        seed = (seed &* 1103515245 &+ 12345) & 0x7fffffff
        return (seed >> 8) % n
    }

    func play(days: Int) {
        for day in 0..<days {
            for _ in 0..<6 {
                let start = day + 1 + random(14)
                let g = guests[random(guests.count)]
                if let c = desk.request(g, nights: start..<(start + 1 + random(6))) { codes.append(c) }
            }
            for _ in 0..<2 where !codes.isEmpty {
                desk.cancel(codes.remove(at: random(codes.count)))
            }
            if codes.count > 60 { codes.removeFirst(codes.count - 60) }
            desk.endOfDay(day)
            usleep(5_000)
        }
    }

    func report() {
        let best = guests.max { $0.points < $1.points }!
        print("stays \(desk.stays) cancelled \(desk.cancelled) rejected \(desk.rejected) open \(desk.open)")
        print("income \(desk.money.0) refunds \(desk.money.1) best guest \(best.email) \(best.points)")
    }
}

func runSeason() {
    let season = Season()
    season.play(days: 400)
    season.report()
}

runSeason()
