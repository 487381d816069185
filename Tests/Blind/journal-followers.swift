import Foundation
import Synchronization

struct JournalEntry: Sendable {
    let position: Int
    let table: String
    let delta: Int
}

final class FollowerCursor: @unchecked Sendable {
    private struct State {
        var inbox: [JournalEntry] = []
        var sleeper: CheckedContinuation<JournalEntry?, Never>?
        var isSealed = false
    }

    let table: String
    private let state = Mutex(State())

    init(table: String) { self.table = table }

    func push(_ entry: JournalEntry) {
        let sleeper = state.withLock { state -> CheckedContinuation<JournalEntry?, Never>? in
            if let sleeper = state.sleeper {
                state.sleeper = nil
                return sleeper
            }
            state.inbox.append(entry)
            return nil
        }
        sleeper?.resume(returning: entry)
    }

    func seal() {
        let sleeper = state.withLock { state -> CheckedContinuation<JournalEntry?, Never>? in
            state.isSealed = true
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.resume(returning: nil)
    }

    func next() async -> JournalEntry? {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> JournalEntry?? in
                if !state.inbox.isEmpty { return .some(state.inbox.removeFirst()) }
                if state.isSealed { return .some(nil) }
                state.sleeper = continuation
                return .none
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

struct TableChanges: AsyncSequence {
    typealias Element = JournalEntry

    struct Iterator: AsyncIteratorProtocol {
        let cursor: FollowerCursor
        mutating func next() async -> JournalEntry? { await cursor.next() }
    }

    let journal: Journal
    let table: String

    func makeAsyncIterator() -> Iterator {
        let cursor = FollowerCursor(table: table)
        journal.attach(cursor)
        return Iterator(cursor: cursor)
    }
}

final class Journal: @unchecked Sendable {
    private struct WeakCursor {
        weak var cursor: FollowerCursor?
    }

    private struct State {
        var followers: [String: [WeakCursor]] = [:]
        var position = 0
        var attachments = 0
        var isSealed = false
    }

    private let state = Mutex(State())

    func attach(_ cursor: FollowerCursor) {
        let tooLate = state.withLock { state -> Bool in
            state.followers[cursor.table, default: []].append(WeakCursor(cursor: cursor))
            state.attachments += 1
            return state.isSealed
        }
        if tooLate { cursor.seal() }
    }

    func append(table: String, delta: Int) {
        let (entry, targets) = state.withLock { state -> (JournalEntry, [FollowerCursor]) in
            state.position += 1
            state.followers[table]?.removeAll { $0.cursor == nil }
            let targets = state.followers[table]?.compactMap(\.cursor) ?? []
            return (JournalEntry(position: state.position, table: table, delta: delta), targets)
        }
        for target in targets { target.push(entry) }
    }

    func seal() {
        let targets = state.withLock { state -> [FollowerCursor] in
            state.isSealed = true
            defer { state.followers.removeAll() }
            return state.followers.values.flatMap { $0.compactMap(\.cursor) }
        }
        for target in targets { target.seal() }
    }

    var attachments: Int { state.withLock { $0.attachments } }
}

final class ReplicaReport: Sendable {
    private let totals = Mutex((started: 0, finished: 0, entries: 0, balance: 0))

    func begin() { totals.withLock { $0.started += 1 } }

    func end(entries: Int, balance: Int) {
        totals.withLock {
            $0.finished += 1
            $0.entries += entries
            $0.balance += balance
        }
    }

    var snapshot: (started: Int, finished: Int, entries: Int, balance: Int) { totals.withLock { $0 } }
}

func follow(_ table: String, in journal: Journal, upTo limit: Int, report: ReplicaReport) {
    let changes = TableChanges(journal: journal, table: table)
    Task {
        report.begin()
        var entries = 0
        var balance = 0
        for await change in changes {
            entries += 1
            balance += change.delta
            if entries == limit { break }
        }
        report.end(entries: entries, balance: balance)
    }
}

let journal = Journal()
let report = ReplicaReport()
var launched = 0

for round in 0..<60 {
    follow("accounts", in: journal, upTo: 3, report: report)
    follow("archive\(round % 6)", in: journal, upTo: 1_000, report: report)
    follow("audit", in: journal, upTo: 1_000, report: report)
    launched += 3
    while journal.attachments < launched {
        try await Task.sleep(for: .milliseconds(1))
    }
    for step in 0..<4 { journal.append(table: "accounts", delta: round - step) }
    try await Task.sleep(for: .milliseconds(8))
    while report.snapshot.finished < round + 1 { try await Task.sleep(for: .milliseconds(1)) }
}

let attached = journal.attachments - report.snapshot.finished
journal.append(table: "audit", delta: 5)
journal.seal()
while report.snapshot.finished < launched {
    try await Task.sleep(for: .milliseconds(2))
}
try await Task.sleep(for: .milliseconds(60))

let totals = report.snapshot
print("followers \(totals.started), attached at seal \(attached), finished \(totals.finished)")
print("entries \(totals.entries), balance \(totals.balance)")
