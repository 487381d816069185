import Foundation

final class Span {
    let name: String
    let start: Int
    var end: Int?
    var failed = false
    weak var parent: Span?
    private(set) var children: [Span] = []

    init(name: String, start: Int, parent: Span?) {
        self.name = name
        self.start = start
        self.parent = parent
        parent?.children.append(self)
    }

    func finish(at tick: Int, failed: Bool = false) {
        end = tick
        self.failed = failed
        if failed { parent?.failed = true }
    }

    var size: Int { 1 + children.reduce(0) { $0 + $1.size } }
}

final class Trace {
    let id: Int
    let root: Span
    init(id: Int, name: String, start: Int) {
        self.id = id
        root = Span(name: name, start: start, parent: nil)
    }
}

final class TailSampler {
    private var open: [Int: Trace] = [:]
    private var errors: [Trace] = []
    private var slowest: [Trace] = []
    private var nextID = 0
    private(set) var dropped = 0

    func begin(_ name: String, at tick: Int) -> Trace {
        let trace = Trace(id: nextID, name: name, start: tick)
        nextID += 1
        open[trace.id] = trace
        return trace
    }

    func end(_ trace: Trace, at tick: Int) {
        open.removeValue(forKey: trace.id)
        trace.root.finish(at: tick, failed: trace.root.failed)
        if trace.root.failed {
            errors.append(trace)
            return
        }
        slowest.append(trace)
        slowest.sort { duration($0) > duration($1) }
        if slowest.count > 25 {
            slowest.removeLast()
            dropped += 1
        }
    }

    private func duration(_ trace: Trace) -> Int { (trace.root.end ?? trace.root.start) - trace.root.start }

    var summary: String {
        "traces \(nextID) in progress \(open.count) errors \(errors.count) spans in errors \(errors.reduce(0) { $0 + $1.root.size }) slow \(slowest.count) dropped \(dropped)"
    }
}

let sampler = TailSampler()
var streaming: [(trace: Trace, until: Int)] = []
for tick in 0..<80 {
    for n in 0..<12 {
        let number = tick * 12 + n
        let trace = sampler.begin("GET /r\(n)", at: tick * 100)
        let handler = Span(name: "handler", start: tick * 100 + 1, parent: trace.root)
        for q in 0..<(1 + n % 3) {
            let query = Span(name: "query \(q)", start: tick * 100 + 2 + q, parent: handler)
            query.finish(at: tick * 100 + 5 + q, failed: number % 40 == 17 && q == 0)
        }
        handler.finish(at: tick * 100 + 9, failed: handler.failed)
        if number % 30 == 11 {
            streaming.append((trace, tick + 25))
        } else {
            sampler.end(trace, at: tick * 100 + 10 + (number * 13) % 70)
        }
    }
    for item in streaming where item.until == tick { sampler.end(item.trace, at: tick * 100) }
    streaming.removeAll { $0.until <= tick }
    Thread.sleep(forTimeInterval: 0.012)
}
print(sampler.summary)
