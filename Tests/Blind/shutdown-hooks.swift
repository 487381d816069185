import Foundation

final class RequestTrace {
    let path: String
    private(set) var spans: [(name: String, micros: Int)] = []
    private(set) var flushed = false

    init(path: String) { self.path = path }

    func span(_ name: String, micros: Int) { spans.append((name, micros)) }

    func flush() -> Int {
        guard !flushed else { return 0 }
        flushed = true
        defer { spans.removeAll() }
        return spans.reduce(0) { $0 + $1.micros }
    }
}

final class ShutdownHook {
    let name: String
    let action: () -> Void
    init(name: String, action: @escaping () -> Void) {
        self.name = name
        self.action = action
    }
}

final class ShutdownRegistry {
    static let shared = ShutdownRegistry()
    private var hooks: [ShutdownHook] = []

    func add(_ hook: ShutdownHook) { hooks.append(hook) }
    func remove(_ hook: ShutdownHook) { hooks.removeAll { $0 === hook } }

    func runAll() -> Int {
        for hook in hooks.reversed() { hook.action() }
        return hooks.count
    }
}

final class ReportRequest {
    private let trace: RequestTrace
    private var rows: [String] = []

    init(path: String) { trace = RequestTrace(path: path) }

    func begin() {
        // make sure that the trace is written even if the server is stopped before
        let trace = self.trace
        ShutdownRegistry.shared.add(ShutdownHook(name: trace.path) { _ = trace.flush() })
    }

    func execute(rowCount: Int) -> Int {
        for n in 0..<rowCount { rows.append("row \(n) of \(trace.path)") }
        trace.span("query", micros: rowCount * 3)
        trace.span("render", micros: rows.count * 2)
        return trace.flush()
    }
}

@main
struct Main {
    static func main() {
        var micros = 0
        for n in 0..<130 {
            let request = ReportRequest(path: "/reports/\(n)")
            request.begin()
            micros += request.execute(rowCount: 5 + n % 10)
        }
        let hooks = ShutdownRegistry.shared.runAll()
        print("micros \(micros) hooks \(hooks)")
    }
}
