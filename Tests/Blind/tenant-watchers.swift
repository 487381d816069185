struct Setting: Sendable {
    let tenant: String
    let key: String
    let value: Int
}

actor ConfigStore {
    private var sinks: [String: [AsyncStream<Setting>.Continuation]] = [:]
    private var values: [String: [String: Int]] = [:]

    func changes(for tenant: String) -> AsyncStream<Setting> {
        let (stream, sink) = AsyncStream.makeStream(of: Setting.self, bufferingPolicy: .bufferingNewest(8))
        sinks[tenant, default: []].append(sink)
        return stream
    }

    func set(_ setting: Setting) {
        values[setting.tenant, default: [:]][setting.key] = setting.value
        for sink in sinks[setting.tenant, default: []] { sink.yield(setting) }
    }

    func isWatched(_ tenant: String) -> Bool { sinks[tenant] != nil }
    func size(of tenant: String) -> Int { values[tenant]?.count ?? 0 }
}

struct AuditError: Error {
    let tenant: String
    let keys: Int
}

actor TenantWatcher {
    nonisolated let tenant: String
    private var handle: Task<Void, Never>?
    private var cache: [String: Int] = [:]

    init(tenant: String) { self.tenant = tenant }

    func watch(_ store: ConfigStore) {
        handle = Task { [weak self] in
            guard let self else { return }
            for await setting in await store.changes(for: tenant) {
                await remember(setting)
            }
        }
    }

    private func remember(_ setting: Setting) { cache[setting.key] = setting.value }

    func stop() {
        handle?.cancel()
        handle = nil
    }
}

struct Fleet {
    let store: ConfigStore
    var watchers: [TenantWatcher] = []
    var retired = 0
    var complaints: [AuditError] = []

    mutating func add(_ tenant: String) async throws {
        let watcher = TenantWatcher(tenant: tenant)
        await watcher.watch(store)
        while await !store.isWatched(tenant) { try await Task.sleep(for: .milliseconds(1)) }
        watchers.append(watcher)
    }

    private func audit(_ watcher: TenantWatcher) async throws {
        let keys = await store.size(of: watcher.tenant)
        if keys > 4 { throw AuditError(tenant: watcher.tenant, keys: keys) }
    }

    private func retire(_ watcher: TenantWatcher) async throws {
        try await audit(watcher)
        await watcher.stop()
    }

    mutating func rollOver() async {
        for watcher in watchers {
            do {
                try await retire(watcher)
                retired += 1
            } catch let error as AuditError {
                complaints.append(error)
            } catch {
                print("unexpected: \(error)")
            }
        }
        watchers.removeAll()
    }
}

@main
struct ConfigService {
    static let store = ConfigStore()

    static func main() async throws {
        var fleet = Fleet(store: store)
        for generation in 0..<8 {
            let names = (0..<12).map { "g\(generation)-t\($0)" }
            for name in names { try await fleet.add(name) }
            for (n, name) in names.enumerated() {
                let keys = (n + generation) % 8 < 3 ? 6 : 3
                for key in 0..<keys {
                    await store.set(Setting(tenant: name, key: "k\(key)", value: n * key))
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            await fleet.rollOver()
        }
        var total = 0
        for round in 0..<25 {
            await store.set(Setting(tenant: "global", key: "r\(round)", value: round))
            total = await store.size(of: "global")
            try await Task.sleep(for: .milliseconds(15))
        }
        let worst = fleet.complaints.map(\.keys).max() ?? 0
        print("retired \(fleet.retired), complaints \(fleet.complaints.count) (up to \(worst) keys), global \(total)")
    }
}
