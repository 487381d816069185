import Foundation

struct Letter: Sendable {
    let subject: String
    let weight: Int
}

enum PollAnswer: Sendable {
    case letters([Letter])
    case serverClosing(unread: Int)
}

final class PollTicket: @unchecked Sendable {
    let mailbox: Int
    let sequence: Int
    private let cookie: [UInt8]
    private(set) var outcome = "waiting"

    init(mailbox: Int, sequence: Int) {
        self.mailbox = mailbox
        self.sequence = sequence
        self.cookie = (0..<48).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ mailbox) }
    }

    func stamp(_ answer: PollAnswer) -> Int {
        switch answer {
        case .letters(let letters):
            outcome = "delivered"
            return letters.reduce(0) { $0 + $1.weight } + Int(cookie[sequence % cookie.count])
        case .serverClosing(let unread):
            outcome = "closed"
            return unread + Int(cookie[mailbox % cookie.count])
        }
    }
}

actor MailboxHub {
    private var parked: [Int: [CheckedContinuation<PollAnswer, Never>]] = [:]
    private var unread: [Int: [Letter]] = [:]
    private var isClosing = false
    private(set) var posted = 0

    var parkedCount: Int { parked.values.reduce(0) { $0 + $1.count } }

    func poll(mailbox: Int) async -> PollAnswer {
        if isClosing { return .serverClosing(unread: unread[mailbox]?.count ?? 0) }
        if let letters = unread.removeValue(forKey: mailbox) { return .letters(letters) }
        return await withCheckedContinuation { parked[mailbox, default: []].append($0) }
    }

    func post(_ letter: Letter, to mailbox: Int) {
        posted += 1
        guard var queue = parked[mailbox], !queue.isEmpty else {
            unread[mailbox, default: []].append(letter)
            return
        }
        let first = queue.removeFirst()
        parked[mailbox] = queue.isEmpty ? nil : queue
        first.resume(returning: .letters([letter]))
    }

    func close() {
        isClosing = true
        for (mailbox, queue) in parked {
            for continuation in queue {
                continuation.resume(returning: .serverClosing(unread: unread[mailbox]?.count ?? 0))
            }
        }
        parked.removeAll()
    }
}

actor AccessLog {
    private var outcomes: [String: Int] = [:]
    private(set) var stamps = 0

    func note(_ ticket: PollTicket, stamp: Int) {
        outcomes[ticket.outcome, default: 0] += 1
        stamps += stamp
    }

    var finished: Int { outcomes.values.reduce(0, +) }
    func count(_ outcome: String) -> Int { outcomes[outcome] ?? 0 }
}

struct PollEndpoint: Sendable {
    let hub: MailboxHub
    let log: AccessLog

    func accept(mailbox: Int, sequence: Int) {
        let ticket = PollTicket(mailbox: mailbox, sequence: sequence)
        Task {
            let answer = await hub.poll(mailbox: ticket.mailbox)
            let stamp = ticket.stamp(answer)
            await log.note(ticket, stamp: stamp)
        }
    }
}

let hub = MailboxHub()
let log = AccessLog()
let endpoint = PollEndpoint(hub: hub, log: log)
var accepted = 0
var busyDelivered = 0

// Mailboxes below 20 belong to people, those from 100 on to archives.
for round in 0..<60 {
    for mailbox in 0..<5 {
        endpoint.accept(mailbox: (round * 5 + mailbox) % 20, sequence: accepted)
        accepted += 1
    }
    for quiet in 0..<3 {
        endpoint.accept(mailbox: 100 + (round * 3 + quiet) % 90, sequence: accepted)
        accepted += 1
    }
    for mailbox in 0..<5 {
        await hub.post(Letter(subject: "r\(round)", weight: 1 + round % 4), to: (round * 5 + mailbox) % 20)
    }
    busyDelivered += 5
    try await Task.sleep(for: .milliseconds(8))
    while await log.finished < busyDelivered { try await Task.sleep(for: .milliseconds(1)) }
}

while await hub.parkedCount < accepted - busyDelivered { try await Task.sleep(for: .milliseconds(1)) }
let waitingBeforeClose = await hub.parkedCount
await hub.close()
while await log.finished < accepted {
    try await Task.sleep(for: .milliseconds(2))
}
try await Task.sleep(for: .milliseconds(60))

print("accepted \(accepted), posted \(await hub.posted), parked at close \(waitingBeforeClose)")
print("delivered \(await log.count("delivered")), closed \(await log.count("closed"))")
