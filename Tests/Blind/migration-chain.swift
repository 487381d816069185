import Foundation

final class Batch: Sendable {
    let table: String
    let rows: [Int]
    init(table: String, rows: Int) {
        self.table = table
        self.rows = Array(0..<rows)
    }
}

actor Database {
    static let shared = Database()
    private var sizes: [String: Int] = [:]
    private(set) var steps = 0
    func apply(_ batch: Batch) {
        sizes[batch.table, default: 0] += batch.rows.count
        steps += 1
    }
}

/// Runs its steps strictly one after the other.
actor MigrationQueue {
    static let shared = MigrationQueue()
    private var last: Task<Int, Never>?

    @discardableResult
    func append(_ batch: Batch, delay: Duration = .zero) -> Task<Int, Never> {
        let previous = last
        let task = Task {
            let before = await previous?.value ?? 0
            if delay > .zero { try? await Task.sleep(for: delay) }
            await Database.shared.apply(batch)
            return before + batch.rows.count
        }
        last = task
        return task
    }
}

final class Progress: @unchecked Sendable {
    static let shared = Progress()
    private let lock = NSLock()
    private var rows = 0
    func report(_ n: Int) { lock.withLock { rows = max(rows, n) } }
    var value: Int { lock.withLock { rows } }
}

@main
struct Migrator {
    static func main() async throws {
        let queue = MigrationQueue.shared
        for round in 0..<6 {
            var final: Task<Int, Never>?
            for n in 0..<20 {
                final = await queue.append(Batch(table: "t\(n % 5)", rows: 10 + round))
            }
            if let final {
                Progress.shared.report(await final.value)
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        // The last release waits for its maintenance window when we stop.
        await queue.append(Batch(table: "big", rows: 500), delay: .seconds(30))
        for n in 0..<5 {
            let task = await queue.append(Batch(table: "after\(n)", rows: 5))
            Task { Progress.shared.report(await task.value) }
        }
        try await Task.sleep(for: .milliseconds(60))
        print("migration steps:", await Database.shared.steps, "rows:", Progress.shared.value)
        exit(0)
    }
}
