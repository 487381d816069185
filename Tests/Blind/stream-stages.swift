import Foundation

final class Frame: Sendable {
    let number: Int
    let samples: [Int]
    init(number: Int) { self.number = number; samples = (0..<64).map { ($0 * number) % 97 } }
}

final class Spectrum: Sendable {
    let number: Int
    let bands: [Int]
    init(_ f: Frame) {
        number = f.number
        bands = stride(from: 0, to: 64, by: 8).map { i in f.samples[i..<i + 8].reduce(0, +) }
    }
}

final class Peak: Sendable {
    let number: Int
    let band: Int
    init(_ s: Spectrum) {
        number = s.number
        band = s.bands.indices.max { s.bands[$0] < s.bands[$1] } ?? 0
    }
}

actor Monitor {
    private var histogram: [Int: Int] = [:]
    private var last: Peak?
    private(set) var count = 0
    func note(_ p: Peak) {
        histogram[p.band, default: 0] += 1
        last = p
        count += 1
    }
    var summary: Int { histogram.count }
}

struct Pipeline: Sendable {
    let monitor = Monitor()

    func source() -> AsyncStream<Frame> {
        AsyncStream(bufferingPolicy: .bufferingNewest(24)) { c in
            let t = Task {
                var n = 0
                while !Task.isCancelled {
                    n += 1
                    c.yield(Frame(number: n))
                    if n % 4 == 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
                }
            }
            c.onTermination = { _ in t.cancel() }
        }
    }

    func analyse(_ frames: AsyncStream<Frame>) -> AsyncStream<Spectrum> {
        AsyncStream(bufferingPolicy: .bufferingOldest(12)) { c in
            let t = Task {
                for await f in frames { c.yield(Spectrum(f)) }
                c.finish()
            }
            c.onTermination = { _ in t.cancel() }
        }
    }

    func run() async {
        for await s in analyse(source()) {
            await monitor.note(Peak(s))
            try? await Task.sleep(nanoseconds: 1_500_000)
        }
    }
}

@main
enum Main {
    static let pipeline = Pipeline()
    static func main() async {
        let running = Task { await pipeline.run() }
        for _ in 0..<300 {
            try? await Task.sleep(nanoseconds: 4_000_000)
            if await pipeline.monitor.count >= 200 { break }
        }
        let bands = await pipeline.monitor.summary
        print("bands \(bands > 0) cancelled \(running.isCancelled)")
    }
}
