import Foundation

final class SchemaProbe: @unchecked Sendable {
    let table: String
    let version: Int
    private let waiter: UnsafeContinuation<Bool, Never>

    init(table: String, version: Int, waiter: UnsafeContinuation<Bool, Never>) {
        self.table = table
        self.version = version
        self.waiter = waiter
    }

    func verdict(_ ok: Bool) { waiter.resume(returning: ok) }
}

actor SchemaRegistry {
    static let shared = SchemaRegistry()
    private var probes: [SchemaProbe] = []
    private(set) var registered = 0

    func register(_ probe: SchemaProbe) {
        registered += 1
        probes.append(probe)
    }

    func upgrade(to version: Int) {
        probes.removeAll { $0.version < version }
    }

    func answerAll() {
        let ready = probes
        probes.removeAll()
        for probe in ready { probe.verdict(true) }
    }
}

actor ImportLog {
    static let shared = ImportLog()
    private(set) var batches = 0
    func finished(rows: Int) { batches += 1 }
}

struct Importer: Sendable {
    func validate(_ table: String, version: Int) async -> Bool {
        await withUnsafeContinuation { continuation in
            let probe = SchemaProbe(table: table, version: version, waiter: continuation)
            Task { await SchemaRegistry.shared.register(probe) }
        }
    }

    func importFile(_ file: String, version: Int) async -> Int {
        async let valid = validate(file, version: version)
        let rows = file.utf8.count * 10
        return await valid ? rows : 0
    }

    func importBatches(_ round: Int, version: (Int) -> Int) {
        for batch in 0..<6 {
            let v = version(batch)
            Task {
                let total = await withTaskGroup(of: Int.self) { group in
                    for part in 0..<2 {
                        // Only the first part of a batch may use an old schema.
                        let partVersion = part == 0 ? v : 9
                        group.addTask { await importFile("r\(round)/b\(batch)/p\(part).csv", version: partVersion) }
                    }
                    var sum = 0
                    for await rows in group { sum += rows }
                    return sum
                }
                await ImportLog.shared.finished(rows: total)
            }
        }
    }
}

@main
struct ImportMain {
    static func main() async throws {
        let importer = Importer()
        for round in 1...4 {
            importer.importBatches(round) { batch in round == 2 && batch < 3 ? 1 : 9 }
            while await SchemaRegistry.shared.registered < round * 12 {
                try await Task.sleep(for: .milliseconds(5))
            }
            if round == 2 { await SchemaRegistry.shared.upgrade(to: 5) }
            await SchemaRegistry.shared.answerAll()
            let expected = round * 6 - (round >= 2 ? 3 : 0)
            while await ImportLog.shared.batches < expected {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await Task.sleep(for: .milliseconds(150))
        print("batches imported:", await ImportLog.shared.batches)
    }
}
