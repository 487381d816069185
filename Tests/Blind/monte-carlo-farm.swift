import Foundation

final class TrialResult: Sendable {
    let seed: UInt64
    let hits: Int
    let samples: Int

    init(seed: UInt64, hits: Int, samples: Int) {
        self.seed = seed
        self.hits = hits
        self.samples = samples
    }
}

actor ResultCollector {
    private var results: [TrialResult] = []
    private var beats = 0

    func add(_ result: TrialResult) { results.append(result) }
    func beat() { beats += 1 }

    func estimate() -> (pi: Double, trials: Int, distinct: Int) {
        let hits = results.reduce(0) { $0 + $1.hits }
        let samples = results.reduce(0) { $0 + $1.samples }
        return (4 * Double(hits) / Double(max(1, samples)), results.count, Set(results.map(\.seed)).count)
    }
}

final class RandomStream {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e3779b97f4a7c15 | 1 }

    func next() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) / Double(1 << 53)
    }
}

func runTrial(seed: UInt64, samples: Int) -> TrialResult {
    let random = RandomStream(seed: seed)
    var hits = 0
    for _ in 0..<samples {
        let x = random.next()
        let y = random.next()
        if x * x + y * y < 1 { hits += 1 }
    }
    return TrialResult(seed: seed, hits: hits, samples: samples)
}

@main
struct Main {
    static func main() async {
        let collector = ResultCollector()
        let heartbeat = Task {
            while !Task.isCancelled {
                await collector.beat()
                try? await Task.sleep(nanoseconds: 2_000_000)
            }
        }
        for wave in 0..<10 {
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<50 {
                    group.addTask {
                        let result = runTrial(seed: UInt64(wave * 50 + n + 1), samples: 200)
                        await collector.add(result)
                    }
                }
            }
        }
        let estimate = await collector.estimate()
        print("trials \(estimate.trials) seeds \(estimate.distinct) pi \((estimate.pi * 100).rounded() / 100)")
        if estimate.trials > 1000 { heartbeat.cancel() }
    }
}
