import Foundation

final class ExporterConfig: Sendable {
    @TaskLocal static var active: ExporterConfig?
    let endpoint: String
    let buffer: [UInt8]
    init(endpoint: String) {
        self.endpoint = endpoint
        buffer = [UInt8](repeating: 0, count: 64_000)
    }
}

final class Trace: Sendable {
    @TaskLocal static var current: Trace?
    let id: Int
    let baggage: [String]
    init(id: Int) {
        self.id = id
        baggage = (0..<20).map { "key\($0)=value\(id)" }
    }
}

actor SpanQueue {
    static let shared = SpanQueue()
    private var spans: [String] = []
    private(set) var exported = 0
    func add(_ span: String) { spans.append(span) }
    func flush() -> Int {
        let n = spans.count
        exported += n
        spans.removeAll(keepingCapacity: true)
        return n
    }
}

enum Exporter {
    static func start() {
        let config = ExporterConfig(endpoint: "http://collector:4318")
        ExporterConfig.$active.withValue(config) {
            _ = Task {
                while !Task.isCancelled {
                    _ = await SpanQueue.shared.flush()
                    try? await Task.sleep(for: .milliseconds(30))
                }
            }
        }
    }
}

func span(_ name: String) async {
    guard let trace = Trace.current else { return }
    await SpanQueue.shared.add("\(trace.id)/\(name)/\(trace.baggage.count)")
}

func checkout(_ id: Int) async {
    await Trace.$current.withValue(Trace(id: id)) {
        await span("cart")
        async let price: Void = span("price")
        async let stock: Void = span("stock")
        _ = await (price, stock)
        // Written after the answer was sent, but it ends soon.
        Task {
            try? await Task.sleep(for: .milliseconds(20))
            await span("mail")
        }
    }
}

@main
struct Shop {
    static func main() async throws {
        Exporter.start()
        var id = 0
        for _ in 0..<6 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    id += 1
                    let order = id
                    group.addTask { await checkout(order) }
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        while await SpanQueue.shared.exported < id * 4 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(100))
        print("spans exported:", await SpanQueue.shared.exported)
    }
}
