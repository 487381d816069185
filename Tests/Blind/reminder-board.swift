// A reminder board for a care home: plans reminders, fires them at their minute, lets nurses cancel them.
import Foundation

enum ReminderState {
    case planned, fired, cancelled
}

final class Reminder {
    let number: Int
    let resident: String
    let text: String
    let dueMinute: Int
    var state = ReminderState.planned

    init(number: Int, resident: String, text: String, dueMinute: Int) {
        self.number = number
        self.resident = resident
        self.text = text
        self.dueMinute = dueMinute
    }
}

protocol Pager: AnyObject {
    func ring(_ reminder: Reminder)
}

final class CorridorPager: Pager {
    private(set) var calls: [String: Int] = [:]

    func ring(_ reminder: Reminder) {
        calls[reminder.text, default: 0] += 1
    }
}

final class ReminderBoard {
    private var pending: [Reminder] = []
    private unowned let pager: Pager
    private(set) var firedCount = 0
    private(set) var cancelledCount = 0
    private var nextNumber = 1

    init(pager: Pager) {
        self.pager = pager
    }

    @discardableResult
    func plan(_ text: String, for resident: String, at minute: Int) -> Int {
        let reminder = Reminder(number: nextNumber, resident: resident, text: text, dueMinute: minute)
        nextNumber += 1
        pending.append(reminder)
        return reminder.number
    }

    func cancel(_ number: Int) {
        for reminder in pending.reversed() where reminder.number == number {
            guard reminder.state == .planned else { return }
            reminder.state = .cancelled
            cancelledCount += 1
            return
        }
    }

    func tick(_ minute: Int) {
        var someFired = false
        for reminder in pending {
            if reminder.state == .cancelled { continue }
            if reminder.dueMinute <= minute {
                pager.ring(reminder)
                reminder.state = .fired
                firedCount += 1
                someFired = true
            }
        }
        if someFired {
            pending.removeAll { $0.state == .fired }
        }
    }
}

struct Rota {
    let residents: [String]
    let texts = ["medicine", "physiotherapy", "blood pressure", "drink", "visitor", "lunch"]

    func entry(_ index: Int) -> (resident: String, text: String) {
        (residents[index % residents.count], texts[(index * 5 + index / 7) % texts.count])
    }
}

let pager = CorridorPager()
let board = ReminderBoard(pager: pager)
let rota = Rota(residents: ["Mrs Abel", "Mr Brandt", "Mrs Cohen", "Mr Duarte", "Mrs Ekberg", "Mr Fuchs", "Mrs Grau"])

let minutes = 800
var planned = 0
var withdrawn: [(number: Int, at: Int)] = []

for minute in 0..<minutes {
    for k in 0..<3 {
        let entry = rota.entry(planned)
        let number = board.plan(entry.text, for: entry.resident, at: minute + 10 + k * 7)
        planned += 1
        if k == 1 {
            withdrawn.append((number, minute + 4))
        }
    }
    for item in withdrawn where item.at == minute {
        board.cancel(item.number)
    }
    withdrawn.removeAll { $0.at <= minute }
    board.tick(minute)
    if minute % 4 == 0 {
        usleep(1000)
    }
}
for item in withdrawn {
    board.cancel(item.number)
}
for minute in minutes..<(minutes + 40) {
    board.tick(minute)
}

print("planned \(planned), fired \(board.firedCount), cancelled \(board.cancelledCount)")
for (text, count) in pager.calls.sorted(by: { $0.key < $1.key }) {
    print("  \(text): \(count)")
}
