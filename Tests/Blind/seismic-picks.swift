import Foundation

enum Phase {
    case p, s
}

final class Pick {
    let station: String
    let phase: Phase
    let arrivalMs: Int
    let amplitude: Double

    init(station: String, phase: Phase, arrivalMs: Int, amplitude: Double) {
        self.station = station
        self.phase = phase
        self.arrivalMs = arrivalMs
        self.amplitude = amplitude
    }
}

final class PickNode {
    let pick: Pick
    var next: PickNode?

    init(_ pick: Pick) {
        self.pick = pick
    }
}

final class PickQueue {
    private var first: PickNode?
    private var last: PickNode?
    private let lock = NSLock()

    func enqueue(_ pick: Pick) {
        lock.lock()
        defer { lock.unlock() }
        let node = PickNode(pick)
        if last == nil {
            first = node
        } else {
            last!.next = node
        }
        last = node
    }

    func dequeue() -> Pick? {
        lock.lock()
        defer { lock.unlock() }
        guard let node = first else { return nil }
        first = node.next
        if first == nil { last = nil }
        return node.pick
    }
}

struct Association {
    var pPicks = 0
    var sPicks = 0
    var strongest = 0.0
    var byStation: [String: Int] = [:]

    mutating func absorb(_ pick: Pick) {
        switch pick.phase {
        case .p: pPicks += 1
        case .s: sPicks += 1
        }
        strongest = max(strongest, pick.amplitude)
        byStation[pick.station, default: 0] += 1
    }
}

final class Correlator {
    private let queue: PickQueue
    private let picksPerTick: Int
    private(set) var result = Association()

    init(queue: PickQueue, picksPerTick: Int) {
        self.queue = queue
        self.picksPerTick = picksPerTick
    }

    func tick() {
        var budget = picksPerTick
        while budget > 0, let pick = queue.dequeue() {
            result.absorb(pick)
            budget -= 1
        }
    }
}

let stationCodes = ["ANMO", "KONO", "TUC", "PAB", "HRV"]
let queue = PickQueue()
let correlator = Correlator(queue: queue, picksPerTick: 4)

for tick in 0..<600 {
    for (offset, code) in stationCodes.enumerated() {
        let amplitude = Double((tick * 13 + offset * 29) % 97) / 10
        queue.enqueue(Pick(station: code, phase: (tick + offset) % 3 == 0 ? .s : .p, arrivalMs: tick * 1000 + offset * 140, amplitude: amplitude))
    }
    correlator.tick()
}

let summary = correlator.result
print("associated P: \(summary.pPicks), S: \(summary.sPicks)")
print(String(format: "strongest amplitude %.1f", summary.strongest))
for code in stationCodes {
    print("\(code): \(summary.byStation[code] ?? 0) picks")
}
