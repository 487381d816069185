import Foundation

final class Ticket: @unchecked Sendable {
    enum Status { case open, assigned, closed, escalated }
    let id: Int
    let customer: String
    var status = Status.open
    var notes: [Note] = []
    init(id: Int, customer: String) {
        self.id = id
        self.customer = customer
    }
}

final class Note: Sendable {
    let author: String
    let text: String
    init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

actor Desk {
    private var inbox: [Ticket] = []
    private var active: [Int: Ticket] = [:]
    private var recentlyClosed: [Ticket] = []
    private var escalations: [Ticket] = []
    private(set) var closedTotal = 0

    func open(_ ticket: Ticket) { inbox.append(ticket) }

    func next(for agent: String) -> Ticket? {
        guard !inbox.isEmpty else { return nil }
        let ticket = inbox.removeFirst()
        ticket.status = .assigned
        ticket.notes.append(Note(author: agent, text: "picked up"))
        active[ticket.id] = ticket
        return ticket
    }

    func close(_ ticket: Ticket) {
        active[ticket.id] = nil
        ticket.status = .closed
        closedTotal += 1
        recentlyClosed.append(ticket)
        if recentlyClosed.count > 50 { recentlyClosed.removeFirst(10) }
    }

    func escalate(_ ticket: Ticket) {
        active[ticket.id] = nil
        ticket.status = .escalated
        ticket.notes.append(Note(author: "desk", text: "sent to second line"))
        escalations.append(ticket)
    }

    func reopen(_ id: Int) -> Bool {
        guard let index = recentlyClosed.firstIndex(where: { $0.id == id }) else { return false }
        inbox.append(recentlyClosed.remove(at: index))
        return true
    }

    func handover() -> String {
        let notes = escalations.reduce(0) { $0 + $1.notes.count }
        let customers = Set(escalations.map(\.customer)).count
        return "escalated \(escalations.count) tickets of \(customers) customers, \(notes) notes, \(inbox.count + active.count) open"
    }
}

struct Agent: Sendable {
    let name: String
    let desk: Desk

    func shift(until total: Int) async {
        var idle = 0
        while idle < 20 {
            guard let ticket = await desk.next(for: name) else {
                idle += 1
                try? await Task.sleep(nanoseconds: 3_000_000)
                continue
            }
            idle = 0
            try? await Task.sleep(nanoseconds: 1_000_000)
            ticket.notes.append(Note(author: name, text: "answered \(ticket.customer)"))
            if ticket.id % 14 == 5 {
                await desk.escalate(ticket)
            } else {
                await desk.close(ticket)
            }
        }
    }
}

let desk = Desk()

@main
struct HelpCenter {
    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for id in 0..<900 {
                    await desk.open(Ticket(id: id, customer: "customer-\(id % 170)"))
                    if id % 60 == 59 { _ = await desk.reopen(id - 25) }
                    try? await Task.sleep(nanoseconds: 1_000_000)
                }
            }
            for name in ["ida", "jon", "kim"] {
                group.addTask { await Agent(name: name, desk: desk).shift(until: 900) }
            }
        }
        print("closed at least 800: \(await desk.closedTotal >= 800)")
        print(await desk.handover())
    }
}
