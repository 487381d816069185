import Foundation

enum Action: String, CaseIterable {
    case login, view, edit, export, logout
}

final class AuditEvent {
    let number: Int
    let user: String
    let action: Action
    let detail: String

    init(number: Int, user: String, action: Action, detail: String) {
        self.number = number
        self.user = user
        self.action = action
        self.detail = detail
    }
}

final class AuditTrail {
    private var slots: [AuditEvent?]
    private var writeIndex = 0
    private(set) var written = 0

    init(capacity: Int) {
        slots = Array(repeating: nil, count: capacity)
    }

    func record(user: String, action: Action, detail: String) {
        written += 1
        slots[writeIndex] = AuditEvent(number: written, user: user, action: action, detail: detail)
        writeIndex = (writeIndex + 1) % slots.count
    }

    func newest(_ limit: Int) -> [AuditEvent] {
        var found: [AuditEvent] = []
        var index = writeIndex
        while found.count < min(limit, slots.count) {
            index = (index + slots.count - 1) % slots.count
            guard let event = slots[index] else { break }
            found.append(event)
        }
        return found
    }

    func histogram() -> [Action: Int] {
        var counts: [Action: Int] = [:]
        for case let event? in slots { counts[event.action, default: 0] += 1 }
        return counts
    }
}

final class Session {
    let user: String
    private let trail: AuditTrail
    private var documents: [Int: String] = [:]

    init(user: String, trail: AuditTrail) {
        self.user = user
        self.trail = trail
        trail.record(user: user, action: .login, detail: "password")
    }

    func open(_ document: Int) {
        documents[document] = "contents of \(document)"
        trail.record(user: user, action: .view, detail: "document \(document)")
    }

    func edit(_ document: Int, adding text: String) {
        guard let old = documents[document] else { return }
        documents[document] = old + text
        trail.record(user: user, action: .edit, detail: "document \(document), \(old.count) to \(old.count + text.count)")
    }

    func export() -> Int {
        let size = documents.values.reduce(0) { $0 + $1.utf8.count }
        trail.record(user: user, action: .export, detail: "\(size) bytes")
        return size
    }

    func end() {
        trail.record(user: user, action: .logout, detail: "after \(documents.count) documents")
    }
}

final class AlarmRule {
    private(set) var alarms = 0

    func inspect(_ trail: AuditTrail) {
        let exports = trail.newest(40).filter { $0.action == .export }
        if Set(exports.map(\.user)).count > 3 { alarms += 1 }
    }
}

let trail = AuditTrail(capacity: 400)
let rule = AlarmRule()
let users = ["ines", "jonas", "karin", "leo", "mira", "nils", "olga", "pia"]
var exported = 0

for turn in 0..<320 {
    let session = Session(user: users[turn % users.count], trail: trail)
    for offset in 0..<4 {
        session.open(turn * 3 + offset)
        if offset % 2 == 0 { session.edit(turn * 3 + offset, adding: " revision \(turn)") }
    }
    if turn % 3 != 0 { exported += session.export() }
    session.end()
    usleep(2000)
    if turn % 8 == 7 { rule.inspect(trail) }
}

let counts = trail.histogram()
let table = Action.allCases.map { "\($0.rawValue)=\(counts[$0, default: 0])" }.joined(separator: " ")
let letters = trail.newest(400).reduce(0) { $0 + $1.detail.utf8.count + $1.number }
print("written \(trail.written), exported \(exported), alarms \(rule.alarms)")
print("history \(table), weight \(letters)")
