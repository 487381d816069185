import AsyncAlgorithms
import Dispatch
import Foundation

final class Sample: Sendable {
    let probe: Int
    let value: Double
    let sequence: Int
    init(probe: Int, value: Double, sequence: Int) {
        self.probe = probe
        self.value = value
        self.sequence = sequence
    }
}

final class Trend {
    let probe: Int
    private var window: [Sample] = []
    private(set) var mean = 0.0

    init(probe: Int) { self.probe = probe }

    func add(_ sample: Sample) {
        window.append(sample)
        if window.count > 16 { window.removeFirst() }
        mean = window.reduce(0) { $0 + $1.value } / Double(window.count)
    }
}

actor Archive {
    static let shared = Archive()
    private var trends: [Int: Trend] = [:]
    private var batches = 0
    private var alerts = 0

    func store(_ batch: [Sample]) {
        batches += 1
        for sample in batch {
            let trend = trends[sample.probe] ?? Trend(probe: sample.probe)
            trends[sample.probe] = trend
            trend.add(sample)
        }
    }

    func alert() { alerts += 1 }
    var report: String { "\(batches) batches, \(trends.count) trends, alerts: \(alerts > 0)" }
}

/// A probe sends until it is switched off.
struct Probe {
    let number: Int
    let pace: Duration
    let output: AsyncChannel<Sample>

    func run(limit: Int) async {
        for sequence in 0..<limit {
            if Task.isCancelled { break }
            let value = sin(Double(sequence * (number + 1)) / 10) * 40
            await output.send(Sample(probe: number, value: value, sequence: sequence))
            try? await Task.sleep(for: pace)
        }
    }
}

/// Runs a set of probes on one channel and closes the channel after the last of them.
func bus(_ probes: Range<Int>, pace: Duration, limit: Int, into channel: AsyncChannel<Sample>) async {
    await withTaskGroup(of: Void.self) { group in
        for number in probes {
            group.addTask { await Probe(number: number, pace: pace, output: channel).run(limit: limit) }
        }
    }
    channel.finish()
}

func campaign(_ archive: Archive, probes: Int, limit: Int) async {
    let roof = AsyncChannel<Sample>()
    let cellar = AsyncChannel<Sample>()
    let alarms = AsyncChannel<Int>()
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await bus(0..<(probes / 2), pace: .milliseconds(3), limit: limit, into: roof) }
        group.addTask { await bus((probes / 2)..<probes, pace: .milliseconds(5), limit: limit, into: cellar) }
        group.addTask {
            for await batch in merge(roof, cellar).chunks(ofCount: 20) {
                await archive.store(batch)
                if let hot = batch.first(where: { $0.value > 39 }) { await alarms.send(hot.probe) }
            }
            alarms.finish()
        }
        group.addTask {
            for await _ in alarms.debounce(for: .milliseconds(10)) { await archive.alert() }
        }
    }
}

@main
struct SensorNet {
    static let hangups = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let archive = Archive.shared
        for _ in 0..<4 { await campaign(archive, probes: 24, limit: 15) }
        signal(SIGTERM, SIG_IGN)
        hangups.setEventHandler {
            Task {
                print(await archive.report)
                exit(0)
            }
        }
        hangups.resume()
        print("ready")
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.8)
            kill(getpid(), SIGTERM)
        }
        // The long campaign is still running when the station stops.
        await campaign(archive, probes: 120, limit: 1_000_000)
    }
}
