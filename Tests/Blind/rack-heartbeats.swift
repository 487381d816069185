import Foundation
import Dispatch

struct Reading {
    let source: String
    let sequence: Int
    let temperature: Int
}

final class Console {
    private let lock = NSLock()
    private var last: [String: Reading] = [:]
    private var received = 0

    func accept(_ reading: Reading) {
        lock.lock()
        last[reading.source] = reading
        received += 1
        lock.unlock()
    }

    func sequence(of source: String) -> Int {
        lock.lock()
        defer { lock.unlock() }
        return last[source]?.sequence ?? 0
    }

    func forget(_ source: String) {
        lock.lock()
        last[source] = nil
        lock.unlock()
    }

    var sources: [String] {
        lock.lock()
        defer { lock.unlock() }
        return last.keys.sorted()
    }
}

enum Plan {
    case permanent
    case burst(count: Int, then: () -> Void)
}

/// Sends readings of one source at a fixed interval.
final class Beat {
    let source: String
    private let console: Console
    private let plan: Plan
    private let timer: DispatchSourceTimer
    private var sequence = 0
    private var samples: [Int] = []

    init(source: String, every interval: Int, plan: Plan, console: Console, queue: DispatchQueue) {
        self.source = source
        self.plan = plan
        self.console = console
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval))
        timer.setEventHandler { self.fire() }
        timer.activate()
    }

    private func fire() {
        sequence += 1
        samples.append(20 + (sequence * 13 + source.utf8.count) % 17)
        if samples.count > 8 { samples.removeFirst() }
        let mean = samples.reduce(0, +) / samples.count
        console.accept(Reading(source: source, sequence: sequence, temperature: mean))
        if case .burst(let count, let then) = plan, sequence == count {
            timer.cancel()
            console.forget(source)
            then()
        }
    }
}

final class Rack {
    let name: String
    private let console: Console
    private let queue: DispatchQueue
    private let bursts = DispatchGroup()
    private(set) var bursted = 0

    init(name: String, console: Console) {
        self.name = name
        self.console = console
        queue = DispatchQueue(label: "rack.\(name)")
    }

    func powerOn() {
        _ = Beat(source: "\(name)/psu", every: 11, plan: .permanent, console: console, queue: queue)
        _ = Beat(source: "\(name)/fan", every: 17, plan: .permanent, console: console, queue: queue)
    }

    func diagnose(slot: Int, count: Int) {
        bursted += 1
        bursts.enter()
        _ = Beat(source: "\(name)/slot\(slot)", every: 4 + slot % 4,
                 plan: .burst(count: count, then: { [bursts] in bursts.leave() }),
                 console: console, queue: queue)
    }

    func waitForDiagnosis() {
        bursts.wait()
        queue.sync {}
    }
}

let console = Console()
let racks = ["a", "b", "c"].map { Rack(name: $0, console: console) }
racks.forEach { $0.powerOn() }

for round in 0..<25 {
    for (index, rack) in racks.enumerated() {
        for card in 0..<4 {
            rack.diagnose(slot: round * 4 + card, count: 1 + (round + card + index) % 7)
        }
    }
    usleep(28_000)
}
racks.forEach { $0.waitForDiagnosis() }
usleep(40_000)

let silent = console.sources.filter { console.sequence(of: $0) < 5 }
print("bursts=\(racks.reduce(0) { $0 + $1.bursted }) sources=\(console.sources.joined(separator: ","))")
print("silent=\(silent.count)")
