import Foundation

final class Artifact: Sendable {
    let digest: Int
    let bytes: [UInt8]
    init(digest: Int, size: Int) {
        self.digest = digest
        self.bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: digest), count: size)
    }
}

final class Action: Sendable {
    let id: Int
    let inputs: [Int]
    init(id: Int, inputs: [Int]) {
        self.id = id
        self.inputs = inputs
    }
    var key: Int { inputs.reduce(17) { ($0 &* 31 &+ $1) & 0x7fff_ffff } }
}

actor ResultCache {
    private var entries: [Int: Artifact] = [:]
    private var order: [Int] = []
    private var pinned: Set<Int> = []
    private let capacity: Int
    private(set) var hits = 0
    private(set) var misses = 0

    init(capacity: Int) { self.capacity = capacity }

    func lookup(_ key: Int) -> Artifact? {
        guard let artifact = entries[key] else {
            misses += 1
            return nil
        }
        hits += 1
        order.removeAll { $0 == key }
        order.append(key)
        return artifact
    }

    func store(_ artifact: Artifact, for key: Int, pin: Bool) {
        if entries.updateValue(artifact, forKey: key) == nil { order.append(key) }
        if pin { pinned.insert(key) }
        trim()
    }

    private func trim() {
        var index = 0
        while order.count - pinned.count > capacity && index < order.count {
            if pinned.contains(order[index]) {
                index += 1
            } else {
                entries[order.remove(at: index)] = nil
            }
        }
    }

    func manifest() -> (entries: Int, pinned: Int, bytes: Int) {
        (entries.count, pinned.count, entries.values.reduce(0) { $0 + $1.bytes.count })
    }
}

final class Executor: Sendable {
    let cache: ResultCache
    init(cache: ResultCache) { self.cache = cache }

    func run(_ action: Action) async -> Int {
        let key = action.key
        if let artifact = await cache.lookup(key) { return artifact.bytes.count }
        try? await Task.sleep(nanoseconds: 3_000_000)
        let artifact = Artifact(digest: key, size: 512 + action.id % 1024)
        await cache.store(artifact, for: key, pin: action.id % 40 == 0)
        return artifact.bytes.count
    }
}

let cache = ResultCache(capacity: 120)

@main
struct BuildDriver {
    static func main() async {
        let executor = Executor(cache: cache)
        var produced = 0
        for wave in 0..<50 {
            produced += await withTaskGroup(of: Int.self) { group in
                for slot in 0..<16 {
                    let id = wave * 16 + slot
                    group.addTask {
                        await executor.run(Action(id: id, inputs: [id % 3 == 0 ? id / 2 : id, slot, 7]))
                    }
                }
                return await group.reduce(0, +)
            }
            try? await Task.sleep(nanoseconds: 8_000_000)
        }
        let summary = await cache.manifest()
        print("produced \(produced) bytes")
        print("cached \(summary.entries) entries, \(summary.pinned) pinned, \(summary.bytes) bytes")
        print("hits \(await cache.hits), misses \(await cache.misses)")
    }
}
