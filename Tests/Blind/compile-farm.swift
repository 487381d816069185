import Foundation

// Coordinator of a small compile farm. Targets are dealt to the workers; the results that the
// workers report are moved to the build database at every flush.

enum Status: String { case ok, cached, failed }

final class UnitResult {
    let unit: String
    let digest: UInt64
    let status: Status
    let diagnostics: [String]

    init(unit: String, digest: UInt64, status: Status, diagnostics: [String]) {
        self.unit = unit
        self.digest = digest
        self.status = status
        self.diagnostics = diagnostics
    }
}

func fnv(_ text: String, rounds: Int) -> UInt64 {
    var hash: UInt64 = 14695981039346656037
    for round in 0..<rounds {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte) ^ UInt64(round)) &* 1099511628211 }
    }
    return hash
}

final class Worker {
    let slot: Int
    private var finished: [UnitResult] = []
    private var seen: Set<UInt64> = []
    private(set) var executed = 0

    init(slot: Int) { self.slot = slot }

    func compile(_ unit: String, source: String) {
        executed += 1
        let digest = fnv(source, rounds: 40)
        let status: Status = !seen.insert(digest).inserted ? .cached : digest % 19 == 0 ? .failed : .ok
        let notes = status == .failed ? ["\(unit):12: error: cannot find symbol", "\(unit):40: note: declared here"]
                                      : ["\(unit): \(source.utf8.count) bytes"]
        finished.append(UnitResult(unit: unit, digest: digest, status: status, diagnostics: notes))
    }

    func drain() -> [UnitResult] {
        defer { finished.removeAll(keepingCapacity: true) }
        return finished
    }
}

struct BuildDatabase {
    private var counts: [Status: Int] = [:]
    private var combined: UInt64 = 0
    private(set) var errors = 0

    mutating func record(_ results: [UnitResult]) {
        for result in results {
            counts[result.status, default: 0] += 1
            combined = combined.byteSwapped ^ result.digest
            errors += result.diagnostics.filter { $0.contains(" error: ") }.count
        }
    }

    var line: String {
        let parts = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
        return parts.joined(separator: ", ") + ", errors \(errors), id \(String(combined, radix: 16))"
    }
}

final class Coordinator {
    private let workers: [Worker]
    private var database = BuildDatabase()
    private var cursor = 0

    init(slots: Int) {
        // Slot numbers start at one, as in the farm's configuration file.
        workers = (1...slots).map(Worker.init)
    }

    func submit(_ unit: String, source: String) {
        workers[cursor].compile(unit, source: source)
        cursor = (cursor + 1) % workers.count
    }

    func flush() {
        for slot in 1..<workers.count {
            database.record(workers[slot].drain())
        }
    }

    var summary: String {
        "\(workers.reduce(0) { $0 + $1.executed }) units, \(database.line)"
    }
}

let modules = ["Core", "Net", "Store", "Render", "Audio", "Script"]
let coordinator = Coordinator(slots: 6)

for revision in 0..<130 {
    for (index, module) in modules.enumerated() {
        for file in 0..<6 {
            let unit = "Sources/\(module)/File\(file).swift"
            let source = "module \(module) part \(file) edition \((revision + index) / (file + 1) % 9) of the tree"
            coordinator.submit(unit, source: source)
        }
    }
    if revision % 2 == 1 { coordinator.flush() }
    if revision % 65 == 64 { print("revision \(revision + 1): \(coordinator.summary)") }
    Thread.sleep(forTimeInterval: 0.005)
}
coordinator.flush()
print(coordinator.summary)
