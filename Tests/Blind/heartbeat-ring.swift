// Watches heartbeats of render farm nodes and flags nodes with jitter.
import Foundation

final class Heartbeat {
    let sequence: Int
    let at: Double
    let load: Double

    init(sequence: Int, at: Double, load: Double) {
        self.sequence = sequence
        self.at = at
        self.load = load
    }
}

struct Ring<Element: AnyObject> {
    private var storage: [Element?]
    private var next = 0
    private(set) var total = 0

    init(size: Int) { storage = [Element?](repeating: nil, count: size) }

    mutating func push(_ element: Element) {
        storage[next] = element
        next = (next + 1) % storage.count
        total += 1
    }

    var elements: [Element] {
        (storage[next...] + storage[..<next]).compactMap { $0 }
    }
}

final class NodeMonitor {
    let name: String
    private var beats = Ring<Heartbeat>(size: 16)
    private(set) var flagged = 0

    init(name: String) { self.name = name }

    func receive(at: Double, load: Double) {
        beats.push(Heartbeat(sequence: beats.total, at: at, load: load))
        if jitter > 0.35 { flagged += 1 }
    }

    var jitter: Double {
        let recent = beats.elements
        guard recent.count > 2 else { return 0 }
        let gaps = zip(recent.dropFirst(), recent).map { $0.at - $1.at }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        return variance.squareRoot()
    }

    var meanLoad: Double {
        let recent = beats.elements
        return recent.isEmpty ? 0 : recent.reduce(0) { $0 + $1.load } / Double(recent.count)
    }

    var received: Int { beats.total }
}

final class Farm {
    private var monitors: [String: NodeMonitor] = [:]

    func heartbeat(from node: String, at: Double, load: Double) {
        let monitor: NodeMonitor
        if let known = monitors[node] {
            monitor = known
        } else {
            monitor = NodeMonitor(name: node)
            monitors[node] = monitor
        }
        monitor.receive(at: at, load: load)
    }

    func report() {
        for monitor in monitors.values.sorted(by: { $0.name < $1.name }) {
            print(String(format: "  %@: %d beats, jitter %.2f, load %.2f, flagged %d",
                         monitor.name, monitor.received, monitor.jitter, monitor.meanLoad, monitor.flagged))
        }
    }
}

let farm = Farm()
for round in 0..<300 {
    for node in 0..<6 {
        let wobble = node == 4 ? Double(round * 17 % 10) / 8 : Double(round * 7 % 5) / 50
        farm.heartbeat(from: "blade\(node)", at: Double(round) + wobble, load: Double((round + node * 11) % 100) / 100)
    }
    if round % 20 == 0 { usleep(5000) }
}
print("render farm after 300 rounds")
farm.report()
