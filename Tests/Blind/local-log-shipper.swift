import Foundation

enum Severity: Int, CaseIterable, Sendable { case debug, info, warning, error }

final class LogLine: Sendable {
    let number: Int
    let severity: Severity
    let text: String
    init(number: Int, severity: Severity, text: String) {
        self.number = number
        self.severity = severity
        self.text = text
    }
}

final class Batch: Sendable {
    let id: Int
    let lines: [LogLine]
    init(id: Int, lines: [LogLine]) {
        self.id = id
        self.lines = lines
    }
    var bytes: Int { lines.reduce(0) { $0 + $1.text.utf8.count } }
}

actor Spool {
    private var lines: [LogLine] = []
    private let bound: Int
    private(set) var lost = 0
    private var batches = 0

    init(bound: Int) { self.bound = bound }

    func add(_ l: LogLine) {
        lines.append(l)
        if lines.count > bound {
            if let i = lines.firstIndex(where: { $0.severity == .debug }) {
                lines.remove(at: i)
            } else {
                lines.removeFirst()
            }
            lost += 1
        }
    }

    func cut(_ n: Int) -> Batch? {
        guard !lines.isEmpty else { return nil }
        batches += 1
        let b = Batch(id: batches, lines: Array(lines.prefix(n)))
        lines.removeFirst(min(n, lines.count))
        return b
    }

    var depth: Int { lines.count }
}

actor Collector {
    private var bytes = 0
    private var received: [Severity: Int] = [:]
    private var lastErrors: [LogLine] = []
    private var retries = 0

    func accept(_ b: Batch) -> Bool {
        if b.id % 13 == 5 && retries < b.id / 13 + 1 {
            retries += 1
            return false
        }
        bytes += b.bytes
        for l in b.lines {
            received[l.severity, default: 0] += 1
            if l.severity == .error {
                lastErrors.append(l)
                if lastErrors.count > 15 { lastErrors.removeFirst() }
            }
        }
        return true
    }

    func summary() -> String {
        let counts = Severity.allCases.map { "\($0) \(received[$0] ?? 0)" }.joined(separator: ", ")
        let errors = lastErrors.suffix(3).map { "#\($0.number)" }.joined(separator: " ")
        return "\(bytes) bytes, \(counts), retries \(retries), last errors \(errors)"
    }
}

final class Shipper: Sendable {
    let name: String
    private let spool: Spool
    private let collector: Collector

    init(name: String, spool: Spool, collector: Collector) {
        self.name = name
        self.spool = spool
        self.collector = collector
    }

    func start() {
        Task.detached { [self] in
            while true {
                await shipOne()
            }
        }
    }

    private func shipOne() async {
        guard let b = await spool.cut(12) else {
            try? await Task.sleep(nanoseconds: 3_000_000)
            return
        }
        var delay: UInt64 = 4_000_000
        while await !collector.accept(b) {
            try? await Task.sleep(nanoseconds: delay)
            delay *= 2
        }
        try? await Task.sleep(nanoseconds: 12_000_000)
    }
}

final class Application: Sendable {
    let name: String
    private let spool: Spool
    init(name: String, spool: Spool) {
        self.name = name
        self.spool = spool
    }

    func run(lines: Int, start: Int) async {
        for i in 0..<lines {
            let n = start + i
            let s: Severity = n % 37 == 0 ? .error : n % 11 == 0 ? .warning : n % 2 == 0 ? .info : .debug
            await spool.add(LogLine(number: n, severity: s, text: "\(name) request \(n) took \(n % 90) ms"))
            if i % 6 == 0 { try? await Task.sleep(nanoseconds: 5_000_000) }
        }
    }
}

func main() async {
    let spool = Spool(bound: 400)
    let collector = Collector()
    for i in 0..<4 {
        Shipper(name: "shipper\(i)", spool: spool, collector: collector).start()
    }
    let apps = ["web", "mail", "cron"].map { Application(name: $0, spool: spool) }
    await withTaskGroup(of: Void.self) { group in
        for (i, a) in apps.enumerated() {
            group.addTask { await a.run(lines: 2300, start: i * 10_000) }
        }
    }
    print(await collector.summary())
    print("spool \(await spool.depth), lost \(await spool.lost)")
}

await main()
