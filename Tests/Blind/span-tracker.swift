import Foundation

// Request tracing of a gateway: workers open a span per request, mark its stages and close it.
// Twice a second the gateway writes a statistics line.

enum Stage: Int, CaseIterable { case accept, route, upstream, respond }

final class RequestSpan: @unchecked Sendable {
    let requestID: UInt64
    let target: String
    private(set) var marks = [Int](repeating: -1, count: Stage.allCases.count)
    private(set) var finished = false

    init(requestID: UInt64, target: String) {
        self.requestID = requestID
        self.target = target
    }

    func mark(_ stage: Stage, at micros: Int) { marks[stage.rawValue] = micros }

    func close() { finished = true }

    var duration: Int {
        let reached = marks.filter { $0 >= 0 }
        return (reached.max() ?? 0) - (reached.min() ?? 0)
    }
}

final class SpanTracker: @unchecked Sendable {
    private let lock = NSLock()
    private var spans: [UInt64: RequestSpan] = [:]
    private var state: UInt64 = 88_172_645_463_325_252

    func open(_ target: String) -> RequestSpan {
        lock.withLock {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let span = RequestSpan(requestID: state, target: target)
            spans[span.requestID] = span
            return span
        }
    }

    func statistics() -> String {
        lock.withLock {
            let running = spans.values.filter { !$0.finished }.count
            let durations = spans.values.filter(\.finished).map(\.duration).sorted()
            guard !durations.isEmpty else { return "running \(running)" }
            let p50 = durations[durations.count / 2], p99 = durations[durations.count * 99 / 100]
            return "running \(running), p50 \(p50)us, p99 \(p99)us, max \(durations.last!)us"
        }
    }
}

struct Upstream {
    let targets = ["catalog", "pricing", "identity", "delivery"]

    func call(_ target: String, seed: Int) -> Int {
        var value = seed &* 2_654_435_761
        for byte in target.utf8 {
            for _ in 0..<40 { value = (value ^ Int(byte)) &* 16_777_619 & 0xffff_ffff }
        }
        return value % 1_900 + (seed % 50 == 0 ? 9_000 : 100)
    }
}

final class Gateway: @unchecked Sendable {
    private let tracker = SpanTracker()
    private let upstream = Upstream()
    private let workers = DispatchQueue(label: "gateway.workers", attributes: .concurrent)

    func round(_ number: Int, requests: Int) {
        let group = DispatchGroup()
        for lane in 0..<2 {
            workers.async(group: group) { [self] in
                for index in stride(from: lane, to: requests, by: 2) { serve(number * requests + index) }
            }
        }
        group.wait()
    }

    private func serve(_ serial: Int) {
        let target = upstream.targets[serial % upstream.targets.count]
        let span = tracker.open(target)
        var clock = serial % 10
        span.mark(.accept, at: clock)
        clock += 12 + target.utf8.count
        span.mark(.route, at: clock)
        clock += upstream.call(target, seed: serial)
        span.mark(.upstream, at: clock)
        span.mark(.respond, at: clock + 30)
        span.close()
    }

    func writeStatistics() { print(tracker.statistics()) }
}

let gateway = Gateway()
for number in 0..<125 {
    gateway.round(number, requests: 20)
    if number % 25 == 24 { gateway.writeStatistics() }
    Thread.sleep(forTimeInterval: 0.006)
}
