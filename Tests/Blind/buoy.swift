import Foundation
import Synchronization

struct Swell: Sendable {
    let height: Double
    let buoy: Int
}

final class WaveArchive: Sendable {
    private let tally = Mutex<(count: Int, sum: Double)>((0, 0))

    func store(_ swell: Swell) {
        tally.withLock {
            $0.count += 1
            $0.sum += swell.height
        }
    }

    var mean: Double { tally.withLock { $0.count == 0 ? 0 : $0.sum / Double($0.count) } }
}

/// Measures waves every few milliseconds while afloat.
final class Buoy: Sendable {
    let number: Int
    private let archive: WaveArchive
    private let polling = Mutex<Task<Void, Never>?>(nil)
    private let phase: Mutex<Double>

    init(number: Int, archive: WaveArchive) {
        self.number = number
        self.archive = archive
        phase = Mutex(Double(number) / 7)
    }

    func float() {
        let task = Task { [weak self] in
            while !Task.isCancelled {
                guard let buoy = self else { return }
                buoy.measure()
                do {
                    try await Task.sleep(for: .milliseconds(12))
                } catch {
                    return
                }
            }
        }
        polling.withLock { $0 = task }
    }

    private func measure() {
        let height = phase.withLock { value -> Double in
            value += 0.4
            return 1.5 + sin(value)
        }
        archive.store(Swell(height: height, buoy: number))
    }

    func haulIn() async {
        let task = polling.withLock { current -> Task<Void, Never>? in
            defer { current = nil }
            return current
        }
        task?.cancel()
        await task?.value
    }
}

struct Tender {
    let archive: WaveArchive
    private var nextNumber = 0
    private(set) var hauled = 0

    init(archive: WaveArchive) { self.archive = archive }

    mutating func campaign(buoys count: Int) async throws {
        var afloat: [Buoy] = []
        for _ in 0..<count {
            nextNumber += 1
            let buoy = Buoy(number: nextNumber, archive: archive)
            buoy.float()
            afloat.append(buoy)
            try await Task.sleep(for: .milliseconds(2))
        }
        try await Task.sleep(for: .milliseconds(40))
        for buoy in afloat {
            await buoy.haulIn()
            hauled += 1
        }
    }
}

let archive = WaveArchive()
var tender = Tender(archive: archive)
for _ in 0..<14 {
    try await tender.campaign(buoys: 5)
}
print("hauled in \(tender.hauled) buoys, plausible mean: \(archive.mean > 0.5 && archive.mean < 2.5)")
