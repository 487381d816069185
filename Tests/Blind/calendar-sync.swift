import Foundation

final class Event: @unchecked Sendable {
    let id: Int
    let title: String
    let start: Int
    var cancelled = false
    init(id: Int, title: String, start: Int) {
        self.id = id
        self.title = title
        self.start = start
    }
}

final class Reminder: @unchecked Sendable {
    let event: Event
    var due: Int
    init(event: Event, due: Int) {
        self.event = event
        self.due = due
    }
}

actor ReminderService {
    private var scheduled: [Int: Reminder] = [:]
    private var snoozed: [Reminder] = []
    private(set) var delivered = 0

    func schedule(_ event: Event) {
        scheduled[event.id] = Reminder(event: event, due: event.start - 2)
    }

    func snooze(_ eventID: Int, until time: Int) {
        guard let reminder = scheduled.removeValue(forKey: eventID) else { return }
        reminder.due = time
        snoozed.append(reminder)
    }

    func eventCancelled(_ eventID: Int) {
        scheduled[eventID] = nil
    }

    func fire(at now: Int) {
        for (id, reminder) in scheduled where reminder.due <= now {
            scheduled[id] = nil
            delivered += 1
        }
        let due = snoozed.filter { $0.due <= now && !$0.event.cancelled }
        delivered += due.count
        snoozed.removeAll { item in due.contains { $0 === item } }
    }
}

actor Calendar {
    private var events: [Int: Event] = [:]
    private let reminders: ReminderService
    private(set) var held = 0

    init(reminders: ReminderService) { self.reminders = reminders }

    func add(_ event: Event) async {
        events[event.id] = event
        await reminders.schedule(event)
    }

    func cancel(_ id: Int) async {
        guard let event = events.removeValue(forKey: id) else { return }
        event.cancelled = true
        await reminders.eventCancelled(id)
    }

    func finish(before now: Int) {
        for (id, event) in events where event.start < now {
            events[id] = nil
            held += 1
        }
    }

    func upcoming() -> [String] { events.values.sorted { $0.start < $1.start }.map(\.title) }
}

let reminders = ReminderService()
let calendar = Calendar(reminders: reminders)

@main
struct CalendarApp {
    static func main() async {
        for day in 0..<500 {
            await calendar.add(Event(id: day, title: "Meeting \(day)", start: day + 6))
            if day % 5 == 0 { await reminders.snooze(day, until: day + 5) }
            if day % 10 == 4 { await calendar.cancel(day - 1) }
            if day % 10 == 2 { await calendar.cancel(day - 2) }
            await reminders.fire(at: day)
            await calendar.finish(before: day)
            try? await Task.sleep(nanoseconds: 2_000_000)
        }
        for day in 500..<510 {
            await reminders.fire(at: day)
            await calendar.finish(before: day)
        }
        print("held \(await calendar.held), reminders delivered \(await reminders.delivered)")
        print("upcoming \(await calendar.upcoming().count)")
    }
}
