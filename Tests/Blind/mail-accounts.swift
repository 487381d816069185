import Foundation

struct Mail: Sendable {
    let to: String
    let size: Int
}

actor Postmaster {
    private var inbox: [String: [Mail]] = [:]
    private var bells: [String: [CheckedContinuation<Void, Never>]] = [:]
    private(set) var delivered = 0

    func deliver(_ mail: Mail) {
        inbox[mail.to, default: []].append(mail)
        delivered += 1
        ring(mail.to)
    }

    func ring(_ user: String) {
        for bell in bells.removeValue(forKey: user) ?? [] { bell.resume() }
    }

    func fetch(_ user: String) -> [Mail] {
        inbox.removeValue(forKey: user) ?? []
    }

    func waitForMail(_ user: String, unless stopped: @Sendable () -> Bool) async {
        if inbox[user] != nil || stopped() { return }
        await withCheckedContinuation { bells[user, default: []].append($0) }
    }
}

final class Mailbox: @unchecked Sendable {
    let user: String
    private let post: Postmaster
    private let lock = NSLock()
    private var stopFlag = false
    private var bytes = 0

    init(user: String, post: Postmaster) {
        self.user = user
        self.post = post
    }

    func startIdle() {
        Task.detached(priority: .background) {
            while !self.isStopped {
                self.file(await self.post.fetch(self.user))
                await self.post.waitForMail(self.user, unless: { self.isStopped })
            }
        }
    }

    private func file(_ mails: [Mail]) {
        lock.withLock { bytes += mails.reduce(0) { $0 + $1.size } }
    }

    private var isStopped: Bool { lock.withLock { stopFlag } }
    var stored: Int { lock.withLock { bytes } }

    func stop() async {
        lock.withLock { stopFlag = true }
        await post.ring(user)
    }
}

final class MailService {
    let post = Postmaster()
    private var boxes: [String: Mailbox] = [:]
    private(set) var sessions = 0

    func login(_ user: String) async {
        if let old = boxes[user] { await old.stop() }
        let box = Mailbox(user: user, post: post)
        boxes[user] = box
        box.startIdle()
        sessions += 1
    }

    func logout(_ user: String) async {
        guard let box = boxes.removeValue(forKey: user) else { return }
        await box.stop()
    }

    func expire(where stale: (String) -> Bool) async {
        for user in boxes.keys.sorted() where stale(user) { await logout(user) }
    }

    var online: [String] { boxes.keys.sorted() }
    var stored: Int { boxes.values.reduce(0) { $0 + $1.stored } }
}

let service = MailService()
let users = (10..<28).map { "user\($0)" }

for user in users { await service.login(user) }
for round in 1...8 {
    for (n, user) in users.enumerated() { await service.post.deliver(Mail(to: user, size: 100 * round + n)) }
    try await Task.sleep(for: .milliseconds(20))
    for user in users.prefix(5) where round % 2 == 0 { await service.login(user) }
}
for user in users.suffix(6) { await service.logout(user) }
await service.expire { $0 >= "user16" }

for round in 1...25 {
    for user in service.online { await service.post.deliver(Mail(to: user, size: round)) }
    try await Task.sleep(for: .milliseconds(20))
}
print("online \(service.online), \(service.sessions) sessions, \(await service.post.delivered) delivered, filed: \(service.stored > 0)")
