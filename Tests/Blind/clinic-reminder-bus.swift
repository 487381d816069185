import Foundation

struct Day: Hashable, Comparable {
    let ordinal: Int
    static func < (a: Day, b: Day) -> Bool { a.ordinal < b.ordinal }
}

protocol DayObserver: AnyObject {
    func dayChanged(to day: Day)
}

final class ReminderHandler: DayObserver {
    let patient: Int
    let appointment: Day
    let outbox: Outbox

    init(patient: Int, appointment: Day, outbox: Outbox) {
        self.patient = patient
        self.appointment = appointment
        self.outbox = outbox
    }

    func dayChanged(to day: Day) {
        if appointment.ordinal - day.ordinal == 2 {
            outbox.send("patient \(patient): visit in two days")
        }
    }
}

final class Outbox {
    private(set) var sent = 0
    private(set) var bytes = 0
    func send(_ text: String) {
        sent += 1
        bytes += text.utf8.count
    }
}

final class CalendarBus {
    private var observers: [Int: DayObserver] = [:]
    private var lastToken = 0

    func attach(_ observer: DayObserver) -> Int {
        lastToken += 1
        observers[lastToken] = observer
        return lastToken
    }

    func detach(_ token: Int) {
        observers[token] = nil
    }

    func advance(to day: Day) {
        for token in observers.keys.sorted() {
            observers[token]?.dayChanged(to: day)
        }
    }
}

final class AppointmentDesk {
    private struct Booking {
        var day: Day
        var token: Int
    }

    private let bus: CalendarBus
    private let outbox: Outbox
    private var bookings: [Int: Booking] = [:]
    private(set) var booked = 0, moved = 0, attended = 0

    init(bus: CalendarBus, outbox: Outbox) {
        self.bus = bus
        self.outbox = outbox
    }

    func book(patient: Int, on day: Day) {
        let handler = ReminderHandler(patient: patient, appointment: day, outbox: outbox)
        let token = bus.attach(handler)
        if bookings[patient] == nil { booked += 1 } else { moved += 1 }
        bookings[patient] = Booking(day: day, token: token)
    }

    func reschedule(patient: Int, by days: Int) {
        guard let current = bookings[patient] else { return }
        book(patient: patient, on: Day(ordinal: current.day.ordinal + days))
    }

    func closeDay(_ day: Day) {
        for (patient, booking) in bookings where booking.day <= day {
            bus.detach(booking.token)
            bookings[patient] = nil
            attended += 1
        }
    }

    var open: Int { bookings.count }
}

let bus = CalendarBus()
let outbox = Outbox()
let desk = AppointmentDesk(bus: bus, outbox: outbox)
var patient = 0

for ordinal in 0..<180 {
    let today = Day(ordinal: ordinal)
    bus.advance(to: today)
    if ordinal < 165 {
        for i in 0..<9 {
            patient += 1
            desk.book(patient: patient, on: Day(ordinal: ordinal + 3 + (patient * 5 + i) % 8))
        }
        for p in max(1, patient - 8)...patient where p % 9 < 4 {
            desk.reschedule(patient: p, by: 1 + p % 3)
        }
    }
    desk.closeDay(today)
}

print("booked \(desk.booked), moved \(desk.moved), attended \(desk.attended), open \(desk.open)")
print("reminders \(outbox.sent), \(outbox.bytes) bytes")
