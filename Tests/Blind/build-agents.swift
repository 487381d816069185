import Foundation

actor Gate {
    let name: String
    private var isOpen = false
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    init(name: String) {
        self.name = name
    }

    func wait() async {
        if isOpen { return }
        await withUnsafeContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        let released = waiting
        waiting = []
        for continuation in released { continuation.resume() }
    }

    var count: Int { waiting.count }
}

struct Image: Sendable {
    let layers: [Int]
    var digest: Int { layers.reduce(7) { ($0 &* 131 &+ $1) % 1_000_003 } }
}

actor ResultStore {
    private(set) var digests: [Int: Int] = [:]

    func put(_ agent: Int, _ digest: Int) {
        digests[agent] = digest
    }
}

final class BuildAgent: Sendable {
    let number: Int
    private let gate: Gate
    private let store: ResultStore

    init(number: Int, gate: Gate, store: ResultStore) {
        self.number = number
        self.gate = gate
        self.store = store
        Task(priority: .medium) { await self.run() }
    }

    private func run() async {
        async let image = prepare()
        async let ready: Void = gate.wait()
        let prepared = await image
        await ready
        await store.put(number, prepared.digest)
    }

    private func prepare() async -> Image {
        Image(layers: (0..<12).map { ($0 * number) % 29 })
    }
}

final class Farm {
    struct Shard {
        let gate: Gate
        var agents: [BuildAgent]
    }

    private var shards: [String: Shard] = [:]
    private let store: ResultStore
    private var nextNumber = 1

    init(store: ResultStore) {
        self.store = store
    }

    func spawn(_ toolchain: String, agents count: Int) async {
        let gate = Gate(name: toolchain)
        var agents: [BuildAgent] = []
        for _ in 0..<count {
            agents.append(BuildAgent(number: nextNumber, gate: gate, store: store))
            nextNumber += 1
        }
        shards[toolchain] = Shard(gate: gate, agents: agents)
        while await gate.count < count {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func installed(_ toolchain: String) async {
        await shards[toolchain]?.gate.open()
    }

    func retire(_ toolchain: String) -> Int {
        shards.removeValue(forKey: toolchain)?.agents.count ?? 0
    }

    var size: Int { shards.values.reduce(0) { $0 + $1.agents.count } }
}

@main
struct BuildFarm {
    static func main() async {
        let store = ResultStore()
        let farm = Farm(store: store)
        let toolchains = ["gcc-14": true, "clang-19": true, "icc-2021": false, "msvc-19": false]
        for name in toolchains.keys.sorted() {
            await farm.spawn(name, agents: 40)
        }
        print("agents: \(farm.size)")

        var failed: [String] = []
        for (name, works) in toolchains {
            if works {
                await farm.installed(name)
            } else {
                failed.append(name)
            }
        }
        while await store.digests.count < 80 {
            try? await Task.sleep(for: .milliseconds(2))
        }
        for name in toolchains.keys.sorted() {
            print("\(name): retired \(farm.retire(name))\(failed.contains(name) ? " (install failed)" : "")")
        }
        try? await Task.sleep(for: .milliseconds(10))
        let digests = await store.digests
        print("built \(digests.count), mix \(digests.values.reduce(0, ^)), agents \(farm.size)")
    }
}
