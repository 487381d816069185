import Synchronization

struct Reminder: Sendable {
    let calendar: String
    let minute: Int
}

final class ReminderCentre: Sendable {
    static let standard = ReminderCentre()

    private let feeds = Mutex<[ReminderFeed]>([])

    func feed(for calendar: String) -> ReminderFeed {
        let feed = ReminderFeed(calendar: calendar)
        feeds.withLock { $0.append(feed) }
        return feed
    }

    func cancel(_ feed: ReminderFeed) {
        feeds.withLock { $0.removeAll { $0 === feed } }
        feed.end()
    }

    func fire(minute: Int) {
        for feed in feeds.withLock({ $0 }) {
            feed.offer(Reminder(calendar: feed.calendar, minute: minute))
        }
    }

    var active: Int { feeds.withLock { $0.count } }
}

final class ReminderFeed: AsyncSequence, Sendable {
    typealias Element = Reminder

    private enum State {
        case idle([Reminder])
        case waiting(CheckedContinuation<Reminder?, Never>)
        case ended
    }

    let calendar: String
    private let state = Mutex(State.idle([]))

    init(calendar: String) { self.calendar = calendar }

    func offer(_ reminder: Reminder) {
        state.withLock { state in
            switch state {
            case .idle(let backlog): state = .idle(backlog + [reminder])
            case .waiting(let reader):
                state = .idle([])
                reader.resume(returning: reminder)
            case .ended: break
            }
        }
    }

    func end() {
        state.withLock { state in
            if case .waiting(let reader) = state {
                reader.resume(returning: nil)
            }
            state = .ended
        }
    }

    func take() async -> Reminder? {
        await withCheckedContinuation { reader in
            state.withLock { state in
                switch state {
                case .idle(var backlog) where !backlog.isEmpty:
                    let first = backlog.removeFirst()
                    state = .idle(backlog)
                    reader.resume(returning: first)
                case .ended: reader.resume(returning: nil)
                default: state = .waiting(reader)
                }
            }
        }
    }

    struct Iterator: AsyncIteratorProtocol {
        let feed: ReminderFeed
        func next() async -> Reminder? { await feed.take() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(feed: self) }
}

actor Agenda {
    let calendar: String
    private let feed: ReminderFeed
    private(set) var minutes: [Int] = []
    private(set) var isClosed = false

    init(calendar: String) {
        self.calendar = calendar
        feed = ReminderCentre.standard.feed(for: calendar)
    }

    func open() {
        Task {
            for await reminder in feed {
                minutes.append(reminder.minute)
            }
            isClosed = true
        }
    }

    func close() async {
        ReminderCentre.standard.cancel(feed)
        while !isClosed { await Task.yield() }
    }
}

actor Planner {
    static let shared = Planner()
    private var agendas: [String: Agenda] = [:]

    func show(_ calendar: String) async {
        let agenda = Agenda(calendar: calendar)
        agendas[calendar] = agenda
        await agenda.open()
    }

    func hide(_ calendar: String) async {
        await agendas.removeValue(forKey: calendar)?.close()
    }

    func reminders(atLeast count: Int) async -> Int {
        var total = 0
        for agenda in agendas.values {
            while await agenda.minutes.count < count { await Task.yield() }
            total += await agenda.minutes.reduce(0, +)
        }
        return total
    }

    var names: [String] { agendas.keys.sorted() }
}

@main
struct CalendarApp {
    static func main() async {
        let planner = Planner.shared
        for week in 1...7 {
            for day in ["mo", "tu", "we", "th", "fr"] { await planner.show("\(day)\(week)") }
        }
        for minute in [5, 10, 45] { ReminderCentre.standard.fire(minute: minute) }
        print("minutes:", await planner.reminders(atLeast: 3))
        for name in await planner.names where !name.hasSuffix("7") {
            await planner.hide(name)
        }
        try? await Task.sleep(for: .milliseconds(16))
        print("open:", await planner.names.joined(separator: " "), "feeds:", ReminderCentre.standard.active)
    }
}
