import Foundation

final class JobSpec: Sendable {
    let id: Int
    let name: String
    let effort: Int
    let dependsOn: [Int]
    init(id: Int, name: String, effort: Int, dependsOn: [Int]) {
        self.id = id
        self.name = name
        self.effort = effort
        self.dependsOn = dependsOn
    }
}

final class JobResult: Sendable {
    let id: Int
    let value: Int
    let nanoseconds: UInt64
    init(id: Int, value: Int, nanoseconds: UInt64) {
        self.id = id
        self.value = value
        self.nanoseconds = nanoseconds
    }
}

final class Cleanup: Sendable {
    let label: String
    let body: @Sendable () async -> Int
    init(label: String, body: @escaping @Sendable () async -> Int) {
        self.label = label
        self.body = body
    }
}

actor ResultStore {
    private var results: [Int: JobResult] = [:]
    private var waiting: [Int: [CheckedContinuation<JobResult, Never>]] = [:]

    func put(_ result: JobResult) {
        results[result.id] = result
        for continuation in waiting.removeValue(forKey: result.id) ?? [] {
            continuation.resume(returning: result)
        }
    }

    func get(_ id: Int) async -> JobResult {
        if let result = results[id] { return result }
        return await withCheckedContinuation { waiting[id, default: []].append($0) }
    }

    func slowest(_ n: Int) -> [JobResult] {
        Array(results.values.sorted { $0.nanoseconds > $1.nanoseconds }.prefix(n))
    }

    func sum() -> Int { results.values.reduce(0) { ($0 + $1.value) % 1_000_003 } }
}

actor Scheduler {
    private let store: ResultStore
    private var specs: [Int: JobSpec] = [:]
    private var running: [Int: Task<Void, Never>] = [:]
    private var deferred: [Cleanup] = []
    private(set) var peak = 0

    init(store: ResultStore) { self.store = store }

    func submit(_ spec: JobSpec) {
        specs[spec.id] = spec
        let task = Task { await self.execute(spec) }
        running[spec.id] = task
        peak = max(peak, running.count)
        if spec.id % 5 == 0 {
            deferred.append(Cleanup(label: "tmp-\(spec.id)") { [store] in
                await store.get(spec.id).value % 7
            })
        }
    }

    private func execute(_ spec: JobSpec) async {
        var input = spec.id
        for dependency in spec.dependsOn {
            input = (input &* 31 &+ (await store.get(dependency)).value) % 1_000_003
        }
        let start = DispatchTime.now().uptimeNanoseconds
        try? await Task.sleep(nanoseconds: UInt64(spec.effort) * 1_000_000)
        let elapsed = DispatchTime.now().uptimeNanoseconds - start
        await store.put(JobResult(id: spec.id, value: input, nanoseconds: elapsed))
        running[spec.id] = nil
    }

    func describe(_ id: Int) -> String { specs[id]?.name ?? "?" }

    func finish() async -> Int {
        while let entry = running.first {
            await entry.value.value
        }
        var freed = 0
        for cleanup in deferred.reversed() { freed += await cleanup.body() }
        deferred.removeAll()
        return freed
    }
}

final class Heartbeat: Sendable {
    let scheduler: Scheduler
    init(scheduler: Scheduler) { self.scheduler = scheduler }

    func beat() async {
        var last = 0
        while !Task.isCancelled {
            let peak = await scheduler.peak
            if peak > last + 10 {
                last = peak
                print("\(peak) jobs in flight")
            }
            try? await Task.sleep(nanoseconds: 100_000_000)
        }
    }
}

func makeSpec(_ id: Int) -> JobSpec {
    let dependencies = [id - 3, id - 7, id / 2].filter { $0 > 0 && $0 < id }
    return JobSpec(id: id, name: ["fetch", "build", "test", "pack"][id % 4] + "-\(id)",
                   effort: 4 + (id * 13) % 37, dependsOn: Array(Set(dependencies)))
}

func pipeline(count: Int) async {
    let store = ResultStore()
    let scheduler = Scheduler(store: store)
    let heart = Heartbeat(scheduler: scheduler)
    Task.detached { await heart.beat() }
    for id in 1...count {
        await scheduler.submit(makeSpec(id))
        try? await Task.sleep(nanoseconds: 4_000_000)
    }
    let freed = await scheduler.finish()
    for result in await store.slowest(4) {
        print(await scheduler.describe(result.id), result.value)
    }
    print("sum \(await store.sum()), freed \(freed)")
}

await pipeline(count: 260)
