import Foundation

final class MailboxPoller: @unchecked Sendable {
    let account: String
    private var unread: [String] = []
    private var task: Task<Void, Never>?
    private let lock = NSLock()
    private let onDeinit: @Sendable () -> Void

    init(account: String, onDeinit: @escaping @Sendable () -> Void) {
        self.account = account
        self.onDeinit = onDeinit
    }

    deinit { onDeinit() }

    func start() {
        task = Task {
            var uid = 0
            while !Task.isCancelled {
                uid += 1
                self.fetch(uid)
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }

    private func fetch(_ uid: Int) {
        lock.withLock { unread.append("\(account)/INBOX;UID=\(uid)") }
    }

    func close() -> Int {
        task?.cancel()
        task = nil
        return lock.withLock { unread.count }
    }
}

final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var n = 0
    func bump() { lock.withLock { n += 1 } }
    var value: Int { lock.withLock { n } }
}

final class AccountManager {
    private var open: [String: MailboxPoller] = [:]
    let died = Counter()
    private(set) var mails = 0

    func add(_ account: String) {
        remove(account)
        let died = self.died
        let poller = MailboxPoller(account: account) { died.bump() }
        poller.start()
        open[account] = poller
    }

    func remove(_ account: String) {
        if let old = open.removeValue(forKey: account) { mails += old.close() }
    }

    func removeAll() {
        for account in open.keys.sorted() { remove(account) }
    }
}

@main
struct MailAgent {
    static func main() async throws {
        let manager = AccountManager()
        for round in 0..<5 {
            for n in 0..<12 { manager.add("user\(n)@example.org") }
            try await Task.sleep(nanoseconds: 50_000_000)
            // Some accounts log in again with a new password.
            for n in 0..<4 { manager.add("user\((n + round) % 12)@example.org") }
            try await Task.sleep(nanoseconds: 50_000_000)
            manager.removeAll()
        }
        var patience = 0
        while manager.died.value < 80, patience < 100 {
            patience += 1
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        print("pollers closed:", manager.died.value)
    }
}
