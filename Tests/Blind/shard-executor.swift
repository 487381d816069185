import Dispatch
import Foundation
import Synchronization

final class ShardExecutor: SerialExecutor, @unchecked Sendable {
    let label: String
    private let queue: DispatchQueue
    private let jobs = Mutex(0)
    private weak var owner: Shard?

    init(label: String) {
        self.label = label
        self.queue = DispatchQueue(label: "shard.\(label)")
    }

    func bind(to shard: Shard) { owner = shard }

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        jobs.withLock { $0 += 1 }
        queue.async { [self] in
            unowned.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    var jobCount: Int { jobs.withLock { $0 } }
    var hasOwner: Bool { owner != nil }
}

struct Posting: Sendable {
    let term: String
    let document: Int
}

actor Shard {
    nonisolated let executor: ShardExecutor
    private var index: [String: [Int]] = [:]

    init(label: String) {
        executor = ShardExecutor(label: label)
        executor.bind(to: self)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func add(_ posting: Posting) {
        index[posting.term, default: []].append(posting.document)
    }

    func lookup(_ term: String) -> Int { index[term]?.count ?? 0 }

    func drain() -> [String: [Int]] {
        defer { index.removeAll() }
        return index
    }

    func merge(_ other: [String: [Int]]) {
        for (term, documents) in other {
            index[term, default: []].append(contentsOf: documents)
            if index[term]!.count > 60 { index[term]!.removeFirst(index[term]!.count - 60) }
        }
    }
}

struct ExecutorUsage {
    var executors = 0
    var withJobs = 0
    var stillOwned = 0
}

actor SearchIndex {
    private let main: [Shard]
    private var retired: [ShardExecutor] = []
    private(set) var merges = 0

    init(shardCount: Int) {
        main = (0..<shardCount).map { Shard(label: "main\($0)") }
    }

    func ingest(_ batch: [Posting], number: Int) async {
        let scratch = Shard(label: "scratch\(number)")
        for posting in batch { await scratch.add(posting) }
        let target = main[number % main.count]
        await target.merge(await scratch.drain())
        merges += 1
        retired.append(scratch.executor)
    }

    func search(_ term: String) async -> Int {
        var hits = 0
        for shard in main { hits += await shard.lookup(term) }
        return hits
    }

    func usage() -> ExecutorUsage {
        var usage = ExecutorUsage()
        for executor in retired + main.map(\.executor) {
            usage.executors += 1
            if executor.jobCount > 0 { usage.withJobs += 1 }
            if executor.hasOwner { usage.stillOwned += 1 }
        }
        return usage
    }

    func forgetRetired() -> Int {
        defer { retired.removeAll() }
        return retired.count
    }
}

@main
struct IndexerTool {
    static let vocabulary = ["swift", "server", "shard", "queue", "actor", "merge", "posting"]

    static func batch(_ number: Int) -> [Posting] {
        (0..<24).map { Posting(term: vocabulary[(number + $0 * $0) % vocabulary.count], document: number * 24 + $0) }
    }

    static func main() async throws {
        let index = SearchIndex(shardCount: 4)
        var hits = 0
        for number in 0..<64 {
            await index.ingest(batch(number), number: number)
            hits += await index.search(vocabulary[number % vocabulary.count])
            try await Task.sleep(for: .milliseconds(8))
        }

        let usage = await index.usage()
        let forgotten = await index.forgetRetired()
        try await Task.sleep(for: .milliseconds(60))
        print("merges \(await index.merges), hits \(hits)")
        print("executors \(usage.executors), used \(usage.withJobs), owned \(usage.stillOwned), forgotten \(forgotten)")
    }
}
