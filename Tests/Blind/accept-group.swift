import Foundation

struct MailConnection: Sendable {
    let number: Int
    let lines: [String]
}

final class ExchangeSummary: @unchecked Sendable {
    let connection: Int
    let sender: String
    let recipients: [String]
    let bodyBytes: Int
    let accepted: Bool

    init(connection: Int, sender: String, recipients: [String], bodyBytes: Int, accepted: Bool) {
        self.connection = connection
        self.sender = sender
        self.recipients = recipients
        self.bodyBytes = bodyBytes
        self.accepted = accepted
    }
}

actor DeliveryLedger {
    private(set) var delivered = 0
    private(set) var rejected = 0
    private(set) var bytes = 0

    func post(_ summary: ExchangeSummary) {
        if summary.accepted {
            delivered += summary.recipients.count
            bytes += summary.bodyBytes
        } else {
            rejected += 1
        }
    }

    var exchanges: Int { exchangeCount }
    private var exchangeCount = 0
    func close() { exchangeCount += 1 }
}

struct MailDialogue {
    private enum Phase { case envelope, body }

    private var phase = Phase.envelope
    private var sender = ""
    private var recipients: [String] = []
    private var bodyBytes = 0
    private var isBroken = false

    mutating func feed(_ line: String) {
        switch phase {
        case .envelope:
            if line.hasPrefix("MAIL ") {
                sender = String(line.dropFirst(5))
            } else if line.hasPrefix("RCPT ") {
                recipients.append(String(line.dropFirst(5)))
            } else if line == "DATA" {
                isBroken = sender.isEmpty || recipients.isEmpty
                phase = .body
            }
        case .body:
            bodyBytes += line.utf8.count
        }
    }

    func summary(for connection: Int) -> ExchangeSummary {
        ExchangeSummary(connection: connection, sender: sender, recipients: recipients,
                        bodyBytes: bodyBytes, accepted: !isBroken)
    }
}

final class MailServer: Sendable {
    private let incoming: AsyncStream<MailConnection>
    private let acceptor: AsyncStream<MailConnection>.Continuation
    let ledger = DeliveryLedger()

    init() {
        (incoming, acceptor) = AsyncStream.makeStream()
    }

    func accept(_ connection: MailConnection) {
        acceptor.yield(connection)
    }

    func run() async {
        await withTaskGroup(of: ExchangeSummary.self) { group in
            for await connection in incoming {
                group.addTask {
                    await self.converse(with: connection)
                }
            }
            group.cancelAll()
        }
    }

    private func converse(with connection: MailConnection) async -> ExchangeSummary {
        var dialogue = MailDialogue()
        for line in connection.lines {
            dialogue.feed(line)
            if line == "DATA" { await Task.yield() }
        }
        let summary = dialogue.summary(for: connection.number)
        await ledger.post(summary)
        await ledger.close()
        return summary
    }
}

func scriptedConnection(_ number: Int) -> MailConnection {
    var lines = ["HELO client\(number % 13)"]
    if number % 10 != 7 { lines.append("MAIL user\(number % 31)@example.org") }
    for recipient in 0...(number % 3) {
        lines.append("RCPT list\(recipient)@example.net")
    }
    lines.append("DATA")
    for paragraph in 0..<(2 + number % 4) {
        lines.append(String(repeating: "lorem ", count: 3 + paragraph))
    }
    return MailConnection(number: number, lines: lines)
}

let server = MailServer()
let serving = Task { await server.run() }

var dialled = 0
for _ in 0..<70 {
    for _ in 0..<10 {
        server.accept(scriptedConnection(dialled))
        dialled += 1
    }
    try await Task.sleep(for: .milliseconds(9))
}

while await server.ledger.exchanges < dialled {
    try await Task.sleep(for: .milliseconds(5))
}
try await Task.sleep(for: .milliseconds(60))

print("connections \(dialled), cancelled \(serving.isCancelled)")
print("delivered \(await server.ledger.delivered), rejected \(await server.ledger.rejected), bytes \(await server.ledger.bytes)")
