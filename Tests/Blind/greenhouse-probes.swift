import Foundation

struct Bed: Hashable {
    let row: Int
    let column: Int
}

final class Climate: @unchecked Sendable {
    private let lock = NSLock()
    private var hour = 6

    func advance() { lock.withLock { hour = (hour + 1) % 24 } }

    func humidity(at bed: Bed) -> Int {
        lock.withLock { 40 + (bed.row * 3 + bed.column * 5 + abs(12 - hour)) % 45 }
    }
}

final class Probe: @unchecked Sendable {
    let bed: Bed
    private let climate: Climate
    private let lock = NSLock()
    private var history: [Int] = []

    init(bed: Bed, climate: Climate) {
        self.bed = bed
        self.climate = climate
    }

    func run() {
        Task.detached {
            while !Task.isCancelled {
                self.measure()
                try? await Task.sleep(nanoseconds: 40_000_000)
            }
        }
    }

    private func measure() {
        let value = climate.humidity(at: bed)
        lock.withLock {
            history.append(value)
            if history.count > 12 { history.removeFirst(6) }
        }
    }

    var isLive: Bool { lock.withLock { !history.isEmpty } }
    var dry: Bool { lock.withLock { (history.last ?? 100) < 50 } }
}

final class Greenhouse {
    private let climate: Climate
    private var registry: [Bed: Probe] = [:]
    private(set) var litres = 0

    init(climate: Climate) { self.climate = climate }

    func plant(rows: Int, columns: Int) {
        for row in 0..<rows {
            for column in 0..<columns {
                let bed = Bed(row: row, column: column)
                let probe = Probe(bed: bed, climate: climate)
                registry[bed] = probe
                probe.run()
            }
        }
    }

    func water() {
        for row in Set(registry.keys.map(\.row)).sorted() {
            let thirsty = registry.values.filter { $0.bed.row == row && $0.dry }
            litres += thirsty.count * 2
        }
    }

    var live: Int { registry.values.filter(\.isLive).count }
}

let climate = Climate()
let greenhouse = Greenhouse(climate: climate)
greenhouse.plant(rows: 10, columns: 15)

while greenhouse.live < 150 { try await Task.sleep(nanoseconds: 2_000_000) }
for _ in 0..<24 {
    climate.advance()
    greenhouse.water()
    try await Task.sleep(nanoseconds: 30_000_000)
}
print("\(greenhouse.live) probes live, watered: \(greenhouse.litres > 0)")
