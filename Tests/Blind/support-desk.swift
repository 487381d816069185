import Foundation

final class DeskMessage {
    let from: String
    let text: String
    init(from: String, text: String) {
        self.from = from
        self.text = text
    }
}

final class Conversation {
    let customer: String
    private let limit = 25
    private var lines: [DeskMessage] = []

    init(customer: String) { self.customer = customer }

    func add(_ text: String, from: String) {
        lines.append(DeskMessage(from: from, text: text))
        if lines.count > limit {
            lines.removeFirst(lines.count - limit)
        }
    }

    func transcript() -> String {
        lines.map { "\($0.from): \($0.text)" }.joined(separator: "\n")
    }

    var count: Int { lines.count }
}

protocol AutoReply {
    func reply(to text: String, round: Int) -> String?
}

struct GreetingReply: AutoReply {
    func reply(to text: String, round: Int) -> String? {
        round == 0 ? "Welcome, how can we help?" : nil
    }
}

struct OutOfOfficeReply: AutoReply {
    func reply(to text: String, round: Int) -> String? {
        round % 9 == 8 ? "We are closed right now." : nil
    }
}

final class Desk {
    private(set) var conversations: [Conversation] = []
    private let replies: [AutoReply] = [GreetingReply(), OutOfOfficeReply()]

    func open(for customer: String) {
        conversations.append(Conversation(customer: customer))
    }

    func pump(round: Int) {
        for conversation in conversations {
            for n in 0..<4 {
                let text = "question \(n) in round \(round)"
                conversation.add(text, from: conversation.customer)
                for rule in replies {
                    if let answer = rule.reply(to: text, round: round) {
                        conversation.add(answer, from: "bot")
                    }
                }
            }
        }
    }
}

let desk = Desk()
for n in 0..<14 { desk.open(for: "customer-\(n)") }
var bytes = 0
for round in 0..<50 {
    desk.pump(round: round)
    if round % 10 == 0 {
        bytes += desk.conversations.map { $0.transcript().utf8.count }.reduce(0, +)
    }
}
print("conversations \(desk.conversations.count) kept \(desk.conversations.map(\.count).reduce(0, +)) bytes \(bytes)")
