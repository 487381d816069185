import Foundation

final class Span {
    let trace: Int
    let name: String
    let start: Int
    let duration: Int
    let isRoot: Bool
    init(trace: Int, name: String, start: Int, duration: Int, isRoot: Bool) {
        self.trace = trace
        self.name = name
        self.start = start
        self.duration = duration
        self.isRoot = isRoot
    }
}

final class PendingTrace {
    let id: Int
    var spans: [Span] = []
    init(id: Int) { self.id = id }
    var duration: Int { spans.map { $0.start + $0.duration }.max() ?? 0 }
}

final class Sampler {
    private let keepOneIn: Int
    private(set) var dropped = 0
    init(keepOneIn: Int) { self.keepOneIn = keepOneIn }
    func keep(_ trace: PendingTrace) -> Bool {
        if trace.duration > 900 || trace.id % keepOneIn == 0 { return true }
        dropped += 1
        return false
    }
}

final class ServiceStatistics {
    private var calls: [String: Int] = [:]
    private var time: [String: Int] = [:]
    func add(_ trace: PendingTrace) {
        for span in trace.spans {
            calls[span.name, default: 0] += 1
            time[span.name, default: 0] += span.duration
        }
    }
    func lines() -> [String] {
        calls.keys.sorted().map { "\($0): \(calls[$0]!) calls, average \(time[$0]! / calls[$0]!)" }
    }
}

final class Collector {
    private let lock = NSLock()
    private var pending: [Int: PendingTrace] = [:]
    private let sampler = Sampler(keepOneIn: 3)
    private let statistics = ServiceStatistics()
    private var exported = 0
    private var spans = 0

    func receive(_ span: Span) {
        lock.lock()
        defer { lock.unlock() }
        spans += 1
        let trace: PendingTrace
        if let known = pending[span.trace] {
            trace = known
        } else {
            trace = PendingTrace(id: span.trace)
            pending[span.trace] = trace
        }
        trace.spans.append(span)
        if span.isRoot { complete(trace) }
    }

    private func complete(_ trace: PendingTrace) {
        pending[trace.id] = nil
        guard sampler.keep(trace) else { return }
        exported += 1
        statistics.add(trace)
    }

    func abort(_ id: Int) {
        lock.lock()
        pending[id] = nil
        lock.unlock()
    }

    func summary() -> [String] {
        lock.lock()
        defer { lock.unlock() }
        return ["spans \(spans), exported \(exported), dropped \(sampler.dropped)"] + statistics.lines()
    }
}

final class ServiceThread {
    let name: String
    private let collector: Collector
    private let finished = DispatchSemaphore(value: 0)
    private let index: Int

    init(name: String, index: Int, collector: Collector) {
        self.name = name
        self.index = index
        self.collector = collector
    }

    func start(requests: Int) {
        let thread = Thread { [self] in
            for request in 0..<requests { serve(request) }
            finished.signal()
        }
        thread.start()
    }

    private func serve(_ request: Int) {
        let id = request * 10 + index
        let depth = 2 + (request + index) % 5
        for level in 0..<depth {
            let span = Span(trace: id, name: "\(name).\(level)", start: level * 20, duration: 40 + (request * 13 + level * 7) % 300, isRoot: false)
            collector.receive(span)
        }
        if request % 29 == 13 {
            collector.abort(id)
        } else {
            collector.receive(Span(trace: id, name: name, start: 0, duration: 100 + request * 11 % 1000, isRoot: true))
        }
        if (request + index * 3) % 4 == 0 {
            for part in 0..<4 {
                collector.receive(Span(trace: id, name: "\(name).audit", start: 400, duration: 5 + part, isRoot: false))
            }
        }
        usleep(3600)
    }

    func join() { finished.wait() }
}

let collector = Collector()
let services = ["shop", "search", "billing"].enumerated().map { ServiceThread(name: $0.element, index: $0.offset, collector: collector) }
for service in services { service.start(requests: 480) }
for service in services { service.join() }
for line in collector.summary() { print(line) }
