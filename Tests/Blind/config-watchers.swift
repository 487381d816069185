import Foundation

final class ConfigCenter: @unchecked Sendable {
    static let shared = ConfigCenter()
    private let lock = NSLock()
    private var watchers: [String: AsyncStream<String>.Continuation] = [:]

    func watch(_ section: String) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        lock.withLock { watchers[section] = continuation }
        return stream
    }

    func reload(_ revision: Int) {
        let all = lock.withLock { watchers }
        for (section, continuation) in all { continuation.yield("\(section)=r\(revision)") }
    }
}

actor Settings {
    static let shared = Settings()
    private var current: [String: String] = [:]
    private(set) var updates = 0
    func apply(_ text: String, for section: String) {
        current[section] = text
        updates += 1
    }
}

final class AuditTrail: Sendable {
    static let shared = AuditTrail()
    // Written often, read only when an administrator looks.
    let entries: AsyncStream<String>
    private let sink: AsyncStream<String>.Continuation
    init() {
        (entries, sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(10))
    }
    func note(_ text: String) { sink.yield(text) }
}

/// Streams the lines of one reload report; ends when the producer is gone.
final class ReportProducer {
    private let continuation: AsyncStream<String>.Continuation
    init(_ continuation: AsyncStream<String>.Continuation) { self.continuation = continuation }
    deinit { continuation.finish() }
    func write(_ n: Int) {
        for i in 0..<n { continuation.yield("line \(i)") }
    }
}

func report(lines: Int) async -> Int {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    var producer: ReportProducer? = ReportProducer(continuation)
    producer?.write(lines)
    producer = nil
    var n = 0
    for await _ in stream { n += 1 }
    return n
}

@main
struct ProxyServer {
    static func main() async throws {
        for section in ["listen", "routes", "tls", "limits"] {
            let stream = ConfigCenter.shared.watch(section)
            Task {
                for await text in stream {
                    await Settings.shared.apply(text, for: section)
                }
            }
        }
        var lines = 0
        for revision in 1...10 {
            ConfigCenter.shared.reload(revision)
            AuditTrail.shared.note("reload \(revision)")
            lines += await report(lines: 5 + revision)
            try await Task.sleep(for: .milliseconds(25))
        }
        while await Settings.shared.updates < 40 { try await Task.sleep(for: .milliseconds(5)) }
        print("proxy reloaded, updates:", await Settings.shared.updates, "report lines:", lines)
    }
}
