import Foundation

// Outgoing mail queue: messages are accepted, delivered over simulated SMTP
// sessions, retried with backoff, and reported as delivered, bounced or
// expired.

struct Address: Hashable {
    let local: String
    let domain: String
    init?(_ text: String) {
        let parts = text.split(separator: "@")
        guard parts.count == 2 else { return nil }
        local = String(parts[0])
        domain = String(parts[1])
    }
}

final class MailMessage {
    let id: Int
    let recipient: Address
    let body: [UInt8]
    private(set) var attempts = 0
    var nextAttempt: Int

    init(id: Int, recipient: Address, body: [UInt8], now: Int) {
        self.id = id
        self.recipient = recipient
        self.body = body
        nextAttempt = now
    }

    func postpone(now: Int) {
        attempts += 1
        nextAttempt = now + 1 << min(attempts, 5)
    }
}

enum SMTPReply {
    case accepted
    case temporaryFailure
    case rejected(code: Int)
}

protocol MailTransport: AnyObject {
    func send(_ message: MailMessage, attempt: Int) -> SMTPReply
}

/// Domain d3 greylists the first attempt, d7 is never reachable, mailboxes
/// starting with "x" do not exist.
final class SimulatedSMTP: MailTransport {
    private(set) var bytes = 0
    private(set) var checksum: UInt32 = 1

    func send(_ message: MailMessage, attempt: Int) -> SMTPReply {
        if message.recipient.domain == "d7.example" { return .temporaryFailure }
        if message.recipient.domain == "d3.example", attempt == 0 { return .temporaryFailure }
        if message.recipient.local.hasPrefix("x") { return .rejected(code: 550) }
        for byte in encode(message.body) { checksum = checksum &* 31 &+ UInt32(byte) }
        bytes += message.body.count
        return .accepted
    }

    private func encode(_ body: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(body.count * 4 / 3 + 4)
        var index = 0
        while index + 2 < body.count {
            let group = UInt32(body[index]) << 16 | UInt32(body[index + 1]) << 8 | UInt32(body[index + 2])
            for shift in [18, 12, 6, 0] as [UInt32] { result.append(alphabet[Int(group >> shift & 63)]) }
            index += 3
        }
        return result
    }
}

final class DeliveryLog {
    private(set) var lines: [String] = []
    private let limit = 1_000
    private(set) var total = 0

    func write(_ line: String) {
        total += 1
        lines.append(line)
        if lines.count > limit { lines.removeFirst(lines.count - limit) }
    }
}

final class MailQueue {
    private var schedule: [Int: [Int]] = [:]
    private var messages: [Int: MailMessage] = [:]
    private var perDomain: [String: Int] = [:]
    private let transport: MailTransport
    private let log: DeliveryLog
    private let maximumAttempts = 4
    private var nextID = 0
    private(set) var delivered = 0
    private(set) var bounced = 0
    private(set) var expired = 0

    init(transport: MailTransport, log: DeliveryLog) {
        self.transport = transport
        self.log = log
    }

    func submit(to recipient: Address, body: [UInt8], now: Int) {
        nextID += 1
        let message = MailMessage(id: nextID, recipient: recipient, body: body, now: now)
        messages[message.id] = message
        schedule[now, default: []].append(message.id)
        perDomain[recipient.domain, default: 0] += 1
    }

    func process(now: Int) {
        for id in schedule.removeValue(forKey: now) ?? [] {
            guard let message = messages[id] else { continue }
            switch transport.send(message, attempt: message.attempts) {
            case .accepted:
                delivered += 1
                log.write("\(id) delivered after \(message.attempts + 1) attempts")
                complete(message)
            case .rejected(let code):
                bounced += 1
                log.write("\(id) bounced with \(code)")
                complete(message)
            case .temporaryFailure:
                message.postpone(now: now)
                if message.attempts >= maximumAttempts {
                    expired += 1
                    log.write("\(id) expired for \(message.recipient.domain)")
                    perDomain[message.recipient.domain, default: 1] -= 1
                } else {
                    schedule[message.nextAttempt, default: []].append(id)
                }
            }
        }
    }

    private func complete(_ message: MailMessage) {
        messages[message.id] = nil
        perDomain[message.recipient.domain, default: 1] -= 1
    }

    var waiting: Int { schedule.values.reduce(0) { $0 + $1.count } }
    var busyDomains: Int { perDomain.values.lazy.filter { $0 > 0 }.count }
}

func body(for number: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    let text = Array("Message \(number): your parcel is on its way. ".utf8)
    while bytes.count < 500 + number % 400 { bytes += text }
    return bytes
}

let smtp = SimulatedSMTP()
let log = DeliveryLog()
let queue = MailQueue(transport: smtp, log: log)
var invalid = 0
var number = 0
for now in 0..<1_100 {
    if now < 1_000 {
        for _ in 0..<11 {
            let local = number % 23 == 5 ? "x\(number)" : "user\(number % 700)"
            let text = number % 101 == 100 ? "\(local)#d1.example" : "\(local)@d\(number % 20).example"
            if let address = Address(text) {
                queue.submit(to: address, body: body(for: number), now: now)
            } else {
                invalid += 1
            }
            number += 1
        }
    }
    queue.process(now: now)
    usleep(200)
}
print("delivered \(queue.delivered), bounced \(queue.bounced), expired \(queue.expired), invalid \(invalid)")
print("waiting \(queue.waiting), busy domains \(queue.busyDomains), log \(log.lines.count) of \(log.total), sent \(smtp.bytes) bytes, checksum \(smtp.checksum)")
