import Foundation

enum Mutation {
    case set(key: String, value: Int)
    case delete(key: String)
}

final class LogRecord {
    let lsn: Int
    let mutation: Mutation
    let checksum: Int

    init(lsn: Int, mutation: Mutation) {
        self.lsn = lsn
        self.mutation = mutation
        self.checksum = lsn &* 31 &+ 7
    }
}

final class WriteBatch {
    var mutations: [Mutation] = []
}

final class Shard {
    let id: Int
    private var table: [String: Int] = [:]
    private(set) var wal: [LogRecord] = []
    private var lsn = 0
    private(set) var checkpointLSN = 0
    private(set) var snapshot: [String: Int] = [:]

    init(id: Int) { self.id = id }

    func apply(_ batch: WriteBatch) {
        for mutation in batch.mutations {
            lsn += 1
            wal.append(LogRecord(lsn: lsn, mutation: mutation))
            switch mutation {
            case let .set(key, value): table[key] = value
            case let .delete(key): table[key] = nil
            }
        }
    }

    func checkpoint() {
        snapshot = table
        checkpointLSN = lsn
    }

    func replayableRecords() -> Int {
        wal.lazy.filter { $0.lsn > self.checkpointLSN }.count
    }
}

final class StorageEngine {
    static let shared = StorageEngine()
    let shards: [Shard] = (0..<25).map { Shard(id: $0) }

    func write(_ batch: WriteBatch, shard: Int) {
        shards[shard % shards.count].apply(batch)
    }

    func checkpointAll() {
        for shard in shards { shard.checkpoint() }
    }
}

@main
struct Main {
    static func main() {
        let engine = StorageEngine.shared
        for round in 0..<10 {
            for shard in 0..<25 {
                let batch = WriteBatch()
                batch.mutations.append(.set(key: "user:\(round % 4)", value: round * shard))
                if round % 3 == 0 {
                    batch.mutations.append(.delete(key: "user:\((round + 1) % 4)"))
                } else {
                    batch.mutations.append(.set(key: "total", value: round))
                }
                engine.write(batch, shard: shard)
            }
            engine.checkpointAll()
        }
        let pending = engine.shards.reduce(0) { $0 + $1.replayableRecords() }
        let kept = engine.shards.reduce(0) { $0 + $1.wal.count }
        print("shards \(engine.shards.count) pending \(pending) wal \(kept)")
    }
}
