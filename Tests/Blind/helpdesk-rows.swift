import Foundation

enum Priority: Int, CaseIterable {
    case low, normal, urgent
    var label: String {
        switch self {
        case .low: return "low"
        case .normal: return "nrm"
        case .urgent: return "URG"
        }
    }
}

struct Ticket {
    let number: Int
    let subject: String
    let priority: Priority
    let openedAt: Int
}

/// Delivers reminders once the board's clock reaches their due minute.
final class ReminderQueue {
    private var pending: [(due: Int, action: () -> Void)] = []
    private(set) var delivered = 0

    var isEmpty: Bool { pending.isEmpty }

    func enqueue(due: Int, _ action: @escaping () -> Void) {
        pending.append((due, action))
    }

    func advance(to minute: Int) {
        let ready = pending.filter { $0.due <= minute }
        pending.removeAll { $0.due <= minute }
        for entry in ready {
            entry.action()
            delivered += 1
        }
    }
}

final class TicketRow {
    let ticket: Ticket
    private var notes: [String] = []

    init(ticket: Ticket) {
        self.ticket = ticket
    }

    /// Rendering is rebuilt often, so the format is worked out once per row.
    private lazy var format: (Int) -> String = { [unowned self] width in
        let head = "#\(self.ticket.number) [\(self.ticket.priority.label)] "
        let room = max(0, width - head.count)
        return head + String(self.ticket.subject.prefix(room))
    }

    /// Puts a reminder for this row into the queue; the row may be gone when it is due.
    private lazy var overdueHook: (ReminderQueue, Int) -> Void = { queue, minute in
        let due = minute + 2
        queue.enqueue(due: due) { [weak self] in
            self?.append(note: "overdue at \(due)")
        }
    }

    func render(width: Int) -> String {
        notes.isEmpty ? format(width) : format(width - 2) + " *"
    }

    func escalate(on queue: ReminderQueue, minute: Int) {
        append(note: "escalated at \(minute)")
        overdueHook(queue, minute)
    }

    private func append(note: String) {
        notes.append(note)
        if notes.count > 8 { notes.removeFirst() }
    }
}

struct Page {
    var rows: [TicketRow]

    func draw(width: Int) -> Int {
        rows.reduce(0) { $0 + $1.render(width: width).utf8.count }
    }
}

final class Board {
    private let reminders = ReminderQueue()
    private var nextNumber = 1000
    private var minute = 0
    private(set) var charactersDrawn = 0
    private(set) var escalations = 0
    var delivered: Int { reminders.delivered }

    private func makePage(size: Int) -> Page {
        var rows: [TicketRow] = []
        rows.reserveCapacity(size)
        for i in 0..<size {
            let ticket = Ticket(number: nextNumber,
                                subject: "printer on floor \(i % 7) reports code \(nextNumber % 97)",
                                priority: Priority.allCases[nextNumber % 3],
                                openedAt: minute - i)
            rows.append(TicketRow(ticket: ticket))
            nextNumber += 1
        }
        return Page(rows: rows)
    }

    func refresh() {
        minute += 1
        let page = makePage(size: 15)
        for row in page.rows where row.ticket.number % 5 == 2 {
            row.escalate(on: reminders, minute: minute)
            escalations += 1
        }
        for width in stride(from: 40, through: 80, by: 10) {
            charactersDrawn += page.draw(width: width)
        }
        reminders.advance(to: minute)
    }

    func closeDown() {
        while !reminders.isEmpty {
            minute += 1
            reminders.advance(to: minute)
        }
    }
}

let board = Board()
for _ in 0..<36 {
    board.refresh()
    usleep(14_000)
}
board.closeDown()
print("drawn \(board.charactersDrawn) characters, \(board.escalations) escalations, \(board.delivered) reminders")
