import Dispatch
import Foundation

struct Entry {
    let account: Int
    let cents: Int
}

final class ChangeLog: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Entry] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func append(_ entry: Entry) {
        lock.lock()
        entries.append(entry)
        let wake = waiting
        waiting.removeAll()
        lock.unlock()
        wake.forEach { $0.resume() }
    }

    func poke() {
        lock.lock()
        let wake = waiting
        waiting.removeAll()
        lock.unlock()
        wake.forEach { $0.resume() }
    }

    func slice(from cursor: Int) -> ArraySlice<Entry> {
        lock.withLock { entries[cursor...] }
    }

    func waitForChange(after cursor: Int) async {
        await withCheckedContinuation { continuation in
            let ready: Bool = lock.withLock {
                if entries.count > cursor { return true }
                waiting.append(continuation)
                return false
            }
            if ready { continuation.resume() }
        }
    }
}

final class SyncEngine: @unchecked Sendable {
    let account: Int
    private let log: ChangeLog
    private let lock = NSLock()
    private var stopped = false
    private var balanceCents = 0

    init(account: Int, log: ChangeLog) {
        self.account = account
        self.log = log
    }

    func start() {
        Task.detached {
            var cursor = 0
            while !self.isStopped {
                let news = self.log.slice(from: cursor)
                for entry in news where entry.account == self.account { self.apply(entry) }
                cursor = news.endIndex
                await self.log.waitForChange(after: cursor)
            }
        }
    }

    private func apply(_ entry: Entry) { lock.withLock { balanceCents += entry.cents } }
    private var isStopped: Bool { lock.withLock { stopped } }
    var balance: Int { lock.withLock { balanceCents } }

    func stop() {
        lock.withLock { stopped = true }
        log.poke()
    }
}

final class AccountService {
    let log = ChangeLog()
    private var engines: [Int: SyncEngine] = [:]
    private var statements: [Int: Int] = [:]
    private(set) var expirations = 0

    func login(_ account: Int) {
        let engine = SyncEngine(account: account, log: log)
        engine.start()
        engines[account] = engine
    }

    func logout(_ account: Int) {
        guard let engine = engines.removeValue(forKey: account) else { return }
        statements[account] = engine.balance
        engine.stop()
    }

    func sessionExpired(_ account: Int) {
        guard let engine = engines.removeValue(forKey: account) else { return }
        statements[account] = engine.balance
        expirations += 1
    }

    func book(_ cents: Int, on account: Int) { log.append(Entry(account: account, cents: cents)) }

    var summary: String {
        "\(statements.count) statements, sum \(statements.values.reduce(0, +)), \(expirations) expired, \(engines.count) online"
    }
}

@main
struct LedgerApp {
    static let service = AccountService()

    static func settle() async throws { try await Task.sleep(for: .milliseconds(60)) }

    static func main() async throws {
        for group in 0..<3 {
            let accounts = (group * 9)..<(group * 9 + 9)
            for account in accounts { service.login(account) }
            for turn in 1...4 {
                for account in accounts { service.book(100 * turn - account, on: account) }
            }
            try await settle()
            for account in accounts {
                if account % 4 == 1 { service.sessionExpired(account) } else { service.logout(account) }
            }
        }
        for account in 50..<56 {
            service.login(account)
            for turn in 1...10 { service.book(turn * 10, on: account) }
            try await settle()
            service.logout(account)
        }
        for turn in 1...20 {
            service.book(turn, on: 99)
            try await Task.sleep(for: .milliseconds(10))
        }
        print(service.summary)
    }
}
