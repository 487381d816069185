import Foundation

final class TextMessage {
    let id: Int
    let phone: String
    let text: String
    var attempts = 0

    init(id: Int, phone: String, text: String) {
        self.id = id
        self.phone = phone
        self.text = text
    }
}

enum CarrierError: Error {
    case congested
    case unreachable(String)
}

final class Carrier {
    private var clock = 0

    func transmit(_ message: TextMessage) throws {
        clock += 1
        let mark = (clock &* 2654435761 &+ message.id &* 40503) >> 4
        switch mark % 20 {
        case 0...1:
            throw CarrierError.unreachable(message.phone)
        case 2...7:
            throw CarrierError.congested
        default:
            return
        }
    }
}

final class MessageCenter {
    private let carrier: Carrier
    private var outbox: [TextMessage] = []
    private var undeliverable: [TextMessage] = []
    private let undeliverableLimit = 40
    private var counter = 0
    private(set) var sent = 0
    private(set) var failures = 0

    init(carrier: Carrier) {
        self.carrier = carrier
    }

    func send(_ text: String, to phone: String) {
        counter += 1
        outbox.append(TextMessage(id: counter, phone: phone, text: text))
    }

    func pump() {
        var again: [TextMessage] = []
        for message in outbox {
            message.attempts += 1
            do {
                try carrier.transmit(message)
                sent += 1
            } catch CarrierError.congested where message.attempts < 4 {
                again.append(message)
            } catch {
                giveUp(message)
            }
        }
        outbox = again
    }

    private func giveUp(_ message: TextMessage) {
        failures += 1
        undeliverable.append(message)
        if undeliverable.count > undeliverableLimit {
            undeliverable.removeFirst(undeliverable.count - undeliverableLimit)
        }
    }

    var backlog: Int { outbox.count }

    func lastFailures(_ count: Int) -> [String] {
        undeliverable.suffix(count).map { "#\($0.id) to \($0.phone) after \($0.attempts) attempts" }
    }
}

let center = MessageCenter(carrier: Carrier())
let templates = [
    "Your table is ready",
    "Your parcel arrives today",
    "Code: 4711",
    "Appointment tomorrow at nine",
]

for minute in 0..<450 {
    for line in 0..<4 {
        let phone = "+49-30-" + String(100_000 + (minute * 991 + line * 77) % 900_000)
        center.send(templates[(minute + line) % templates.count], to: phone)
    }
    center.pump()
    if minute % 5 == 0 { usleep(1000) }
}
while center.backlog > 0 {
    center.pump()
}

print("sent \(center.sent), failed \(center.failures)")
for line in center.lastFailures(3) {
    print(line)
}
