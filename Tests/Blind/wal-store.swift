import Foundation

final class Version: Sendable {
    let key: String
    let value: String
    let sequence: Int
    init(key: String, value: String, sequence: Int) {
        self.key = key
        self.value = value
        self.sequence = sequence
    }
}

final class LogRecord: Sendable {
    let version: Version
    let checksum: Int
    init(version: Version) {
        self.version = version
        checksum = version.value.utf8.reduce(0) { ($0 &* 33 &+ Int($1)) & 0xffff }
    }
}

final class Snapshot: Sendable {
    let id: Int
    let rows: [String: Version]
    init(id: Int, rows: [String: Version]) {
        self.id = id
        self.rows = rows
    }
}

actor Store {
    private var live: [String: Version] = [:]
    private var log: [LogRecord] = []
    private var openSnapshots: [Int: Snapshot] = [:]
    private var sequence = 0
    private(set) var checkpoints = 0
    private(set) var logged = 0

    func put(_ key: String, _ value: String) {
        sequence += 1
        let version = Version(key: key, value: value, sequence: sequence)
        log.append(LogRecord(version: version))
        logged += 1
        live[key] = version
        if log.count >= 200 { checkpoint() }
    }

    private func checkpoint() {
        checkpoints += 1
        log.removeAll { $0.version.sequence <= sequence }
    }

    func openSnapshot() -> Snapshot {
        let snapshot = Snapshot(id: sequence, rows: live)
        openSnapshots[snapshot.id] = snapshot
        return snapshot
    }

    func closeSnapshot(_ id: Int) { openSnapshots[id] = nil }

    var oldestReadable: Int { openSnapshots.keys.min() ?? sequence }
    var size: Int { live.count }
}

struct Exporter: Sendable {
    let store: Store

    func export(prefix: String) async -> Int {
        let snapshot = await store.openSnapshot()
        let keys = snapshot.rows.keys.filter { $0.hasPrefix(prefix) }.sorted()
        guard let last = keys.last else { return 0 }
        var bytes = last.utf8.count
        for key in keys {
            bytes += snapshot.rows[key]?.value.utf8.count ?? 0
        }
        try? await Task.sleep(nanoseconds: 2_000_000)
        await store.closeSnapshot(snapshot.id)
        return bytes
    }
}

let store = Store()

@main
struct StoreApp {
    static func main() async {
        let exporter = Exporter(store: store)
        let tables = ["user", "cart", "item"]
        var exported = 0
        var empty = 0
        for round in 0..<60 {
            for slot in 0..<50 {
                let table = tables[slot % tables.count]
                await store.put("\(table)/\(slot)", "value \(round * 50 + slot) for \(table)")
            }
            try? await Task.sleep(nanoseconds: 15_000_000)
            let prefix = round % 5 == 3 ? "voucher/" : tables[round % tables.count] + "/"
            let bytes = await exporter.export(prefix: prefix)
            exported += bytes
            if bytes == 0 { empty += 1 }
        }
        print("rows \(await store.size), logged \(await store.logged), checkpoints \(await store.checkpoints)")
        print("exported \(exported) bytes, \(empty) empty exports")
    }
}
