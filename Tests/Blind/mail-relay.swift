import Foundation

enum DeliveryError: Error {
    case bounced(String)
    case greylisted
}

final class SMTPTransaction {
    let id: Int
    let recipient: String
    var commands: [String] = []
    init(id: Int, recipient: String) {
        self.id = id
        self.recipient = recipient
    }
    func send(_ command: String) { commands.append(command) }
}

protocol DeliveryPolicy {
    func check(_ transaction: SMTPTransaction) throws
}

struct BouncePolicy: DeliveryPolicy {
    func check(_ transaction: SMTPTransaction) throws {
        if transaction.recipient.hasPrefix("gone") {
            throw DeliveryError.bounced(transaction.recipient)
        }
    }
}

struct GreylistPolicy: DeliveryPolicy {
    func check(_ transaction: SMTPTransaction) throws {
        if transaction.id % 4 == 1 { throw DeliveryError.greylisted }
    }
}

final class MailRelay {
    private var active: [Int: SMTPTransaction] = [:]
    private let policies: [DeliveryPolicy] = [BouncePolicy(), GreylistPolicy()]
    private var nextID = 0
    private(set) var peak = 0

    func deliver(to recipient: String, depth: Int) throws -> Int {
        nextID += 1
        let id = nextID
        let transaction = SMTPTransaction(id: id, recipient: recipient)
        active[id] = transaction
        defer { active.removeValue(forKey: id) }
        peak = max(peak, active.count)

        transaction.send("MAIL FROM:<relay@example.net>")
        transaction.send("RCPT TO:<\(recipient)>")
        for policy in policies { try policy.check(transaction) }
        if depth > 0 {
            // forwarded copies are delivered while the original is still open
            _ = try? deliver(to: "copy\(depth)@archive.example", depth: depth - 1)
        }
        transaction.send("DATA")
        return transaction.commands.count
    }

    var activeCount: Int { active.count }
}

let relay = MailRelay()
var commands = 0
var bounced = 0
var greylisted = 0
for hour in 0..<12 {
    for n in 0..<20 {
        let name = n % 3 == 0 ? "gone\(n)" : "user\(n)"
        do {
            commands += try relay.deliver(to: "\(name)@h\(hour).example", depth: n % 4)
        } catch DeliveryError.bounced {
            bounced += 1
        } catch {
            greylisted += 1
        }
    }
}
print("commands \(commands) bounced \(bounced) greylisted \(greylisted) peak \(relay.peak) active \(relay.activeCount)")
