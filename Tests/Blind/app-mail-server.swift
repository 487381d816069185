import Foundation

final class Mail {
    let id: Int
    let sender: String
    let recipient: String
    let body: String
    var attempts = 0
    init(id: Int, sender: String, recipient: String, body: String) {
        self.id = id
        self.sender = sender
        self.recipient = recipient
        self.body = body
    }
    var domain: String { String(recipient.split(separator: "@").last ?? "") }
}

final class Bounce {
    let mailId: Int
    let reason: String
    let sender: String
    init(mailId: Int, reason: String, sender: String) {
        self.mailId = mailId
        self.reason = reason
        self.sender = sender
    }
}

enum DeliveryResult {
    case delivered
    case retry
    case refused(String)
}

final class RemoteHost {
    let domain: String
    private let acceptsAfter: Int
    private(set) var received = 0
    init(domain: String, acceptsAfter: Int) {
        self.domain = domain
        self.acceptsAfter = acceptsAfter
    }
    func accept(_ mail: Mail) -> DeliveryResult {
        if mail.recipient.hasPrefix("nobody") { return .refused("unknown user") }
        if mail.attempts < acceptsAfter { return .retry }
        received += 1
        return .delivered
    }
}

final class Spool {
    private let condition = NSCondition()
    private var mails: [Mail] = []
    private var closed = false
    private(set) var longest = 0

    func put(_ mail: Mail) {
        condition.lock()
        mails.append(mail)
        longest = max(longest, mails.count)
        condition.signal()
        condition.unlock()
    }

    func take() -> Mail? {
        condition.lock()
        defer { condition.unlock() }
        while mails.isEmpty {
            if closed { return nil }
            condition.wait()
        }
        return mails.removeFirst()
    }

    func close() {
        condition.lock()
        closed = true
        condition.broadcast()
        condition.unlock()
    }
}

final class MailServer {
    private let spool = Spool()
    private let lock = NSLock()
    private var hosts: [String: RemoteHost] = [:]
    private var deferred: [Mail] = []
    private var bounces: [Bounce] = []
    private var delivered = 0
    private let done = DispatchSemaphore(value: 0)

    func addHost(_ domain: String, acceptsAfter: Int) {
        hosts[domain] = RemoteHost(domain: domain, acceptsAfter: acceptsAfter)
    }

    func start(pause: UInt32) {
        let thread = Thread { [self] in
            while let mail = spool.take() {
                deliver(mail)
                usleep(pause)
            }
            done.signal()
        }
        thread.start()
    }

    func receive(_ mail: Mail) { spool.put(mail) }

    private func deliver(_ mail: Mail) {
        mail.attempts += 1
        let result = hosts[mail.domain]?.accept(mail) ?? .refused("no such host")
        lock.lock()
        defer { lock.unlock() }
        switch result {
        case .delivered: delivered += 1
        case .retry: deferred.append(mail)
        case .refused(let reason): bounces.append(Bounce(mailId: mail.id, reason: reason, sender: mail.sender))
        }
    }

    func finish() {
        spool.close()
        done.wait()
        while true {
            let batch = deferred
            deferred.removeAll()
            if batch.isEmpty { break }
            batch.forEach(deliver)
        }
    }

    func report() {
        print("delivered \(delivered), bounced \(bounces.count), longest spool \(spool.longest)")
        for (reason, list) in Dictionary(grouping: bounces, by: \.reason).sorted(by: { $0.key < $1.key }) {
            let senders = Set(list.map(\.sender)).sorted().prefix(3).joined(separator: ", ")
            print("  \(reason): \(list.count), first id \(list[0].mailId), senders \(senders)")
        }
        for host in hosts.values.sorted(by: { $0.domain < $1.domain }) {
            print("  \(host.domain) received \(host.received)")
        }
    }
}

let server = MailServer()
server.addHost("quick.test", acceptsAfter: 0)
server.addHost("grey.test", acceptsAfter: 2)
server.addHost("slow.test", acceptsAfter: 4)
server.start(pause: 1300)
for id in 0..<1100 {
    let domain = ["quick.test", "quick.test", "grey.test", "quick.test", "slow.test", "lost.test", "quick.test"][id % 7]
    let user = id % 23 == 11 ? "nobody\(id)" : "user\(id % 60)"
    server.receive(Mail(id: id, sender: "app\(id % 9)@here.test", recipient: "\(user)@\(domain)", body: String(repeating: "text \(id) ", count: 5)))
    if id < 300 || id > 800 { usleep(1700) } else { usleep(300) }
}
server.finish()
server.report()
