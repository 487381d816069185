import Foundation

final class PathResult: Sendable {
    let seed: Int
    let payoff: Double
    let path: [Double]
    init(seed: Int, payoff: Double, path: [Double]) {
        self.seed = seed
        self.payoff = payoff
        self.path = path
    }
}

final class Sample: Sendable {
    let name: String
    let value: Double
    init(name: String, value: Double) {
        self.name = name
        self.value = value
    }
}

final class Metrics: Sendable {
    static let shared = Metrics()
    let samples: AsyncStream<Sample>
    private let sink: AsyncStream<Sample>.Continuation
    init() { (samples, sink) = AsyncStream.makeStream(of: Sample.self) }
    func emit(_ name: String, _ value: Double) { sink.yield(Sample(name: name, value: value)) }
}

struct Option: Sendable {
    let strike: Double
    func simulate(_ seed: Int) -> PathResult {
        var state = UInt64(seed) &* 6364136223846793005 &+ 1442695040888963407
        var price = 100.0
        var path: [Double] = []
        for _ in 0..<20 {
            state = state &* 6364136223846793005 &+ 1442695040888963407
            let unit = Double(state >> 40) / Double(1 << 24)
            price *= 1 + (unit - 0.49) * 0.05
            path.append(price)
        }
        return PathResult(seed: seed, payoff: max(0, price - strike), path: path)
    }
}

func value(_ option: Option, paths: Int) async -> (Double, [PathResult]) {
    await withTaskGroup(of: PathResult.self) { group in
        for seed in 0..<paths {
            group.addTask {
                await Task.yield()
                return option.simulate(seed)
            }
        }
        var all: [PathResult] = []
        all.reserveCapacity(paths)
        for await result in group { all.append(result) }
        return (all.reduce(0) { $0 + $1.payoff } / Double(paths), all)
    }
}

@main
struct Pricer {
    static func main() async throws {
        // Prints slowly, so it lags behind by design.
        Task {
            for await sample in Metrics.shared.samples {
                precondition(!sample.name.isEmpty)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        var total = 0.0
        for round in 0..<5 {
            let option = Option(strike: 95 + Double(round) * 2)
            let (price, results) = await value(option, paths: 500)
            let best = results.max { $0.payoff < $1.payoff }
            total += price + (best?.payoff ?? 0) * 0
            Metrics.shared.emit("price", price)
            Metrics.shared.emit("paths", Double(results.count))
            try await Task.sleep(for: .milliseconds(25))
        }
        for n in 0..<4 { Metrics.shared.emit("shutdown.step\(n)", 1) }
        print("portfolio value positive:", total > 0)
    }
}
