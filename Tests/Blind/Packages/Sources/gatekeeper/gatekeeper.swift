import Foundation
import Hummingbird
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

final class Bucket {
    let key: String
    var tokens: Double
    var touched: ContinuousClock.Instant

    init(key: String, tokens: Double) {
        self.key = key
        self.tokens = tokens
        self.touched = .now
    }
}

final class Customer: Sendable {
    let key: String
    let plan: String
    let burst: Double
    init(key: String, plan: String, burst: Double) {
        self.key = key
        self.plan = plan
        self.burst = burst
    }
}

final class Violation: Sendable {
    let key: String
    let time = ContinuousClock.now
    init(key: String) { self.key = key }
}

/// Token buckets per caller, dropped after some time without calls.
actor Limiter {
    private var buckets: [String: Bucket] = [:]
    private var violations: [Violation] = []
    private let customers: [String: Customer]
    private let idleLimit: Duration
    private var dropped = 0

    init(customers: [Customer], idleLimit: Duration) {
        self.customers = Dictionary(uniqueKeysWithValues: customers.map { ($0.key, $0) })
        self.idleLimit = idleLimit
    }

    func admit(_ key: String) -> Bool {
        let burst = customers[key]?.burst ?? 3
        let bucket = buckets[key] ?? Bucket(key: key, tokens: burst)
        buckets[key] = bucket
        let now = ContinuousClock.now
        let elapsed = Double((now - bucket.touched) / .milliseconds(1))
        bucket.tokens = min(burst, bucket.tokens + elapsed * 0.01)
        bucket.touched = now
        guard bucket.tokens >= 1 else {
            violations.append(Violation(key: key))
            if violations.count > 50 { violations.removeFirst(violations.count - 50) }
            return false
        }
        bucket.tokens -= 1
        return true
    }

    func sweep() {
        let limit = ContinuousClock.now - idleLimit
        let before = buckets.count
        buckets = buckets.filter { $0.value.touched > limit }
        violations.removeAll { $0.time < limit }
        dropped += before - buckets.count
    }

    var report: String { "dropped \(dropped)" }
}

struct Sweeper: Service {
    let limiter: Limiter
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .milliseconds(80))
                await limiter.sweep()
            }
        }
    }
}

struct LimitMiddleware<Context: RequestContext>: RouterMiddleware {
    let limiter: Limiter
    let field = HTTPField.Name("X-Key")!
    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        guard await limiter.admit(request.headers[field] ?? "anonymous") else { throw HTTPError(.tooManyRequests) }
        return try await next(request, context)
    }
}

struct Caller {
    let fd: Int32
    init(port: Int) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
    func call(_ path: String, key: String, wait: Bool = true) {
        let head = "GET \(path) HTTP/1.1\r\nHost: gate\r\nX-Key: \(key)\r\n\r\n"
        _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        var chunk = [UInt8](repeating: 0, count: 2048)
        // All answers are small enough for one segment.
        if wait { _ = recv(fd, &chunk, chunk.count, 0) }
    }
}

func traffic(port: Int) {
    var callers = (0..<60).map { _ in Caller(port: port) }
    for wave in 0..<10 {
        for (index, caller) in callers.enumerated() {
            caller.call("/quote", key: "guest-\(wave)-\(index)")
            caller.call("/quote", key: "customer-\(index)")
        }
        if wave == 4 {
            for index in 0..<25 {
                close(callers[index].fd)
                callers[index] = Caller(port: port)
            }
        }
        Thread.sleep(forTimeInterval: 0.08)
    }
    for caller in callers.prefix(15) { caller.call("/report", key: "customer-1\(caller.fd)", wait: false) }
    Thread.sleep(forTimeInterval: 0.15)
    kill(getpid(), SIGTERM)
    Thread.sleep(forTimeInterval: 10)
}

@main
struct Turnstile {
    static func main() async throws {
        let customers = (0..<300).map { (index: Int) -> Customer in
            let plan = index % 3 == 0 ? "gold" : "basic"
            return Customer(key: "customer-\(index)", plan: plan, burst: Double(20 + index % 9))
        }
        let limiter = Limiter(customers: customers, idleLimit: .milliseconds(250))
        let router = Router()
        router.add(middleware: LimitMiddleware(limiter: limiter))
        router.get("quote") { _, _ in "42.10" }
        router.get("report") { _, _ -> String in
            try await Task.sleep(for: .milliseconds(500))
            return await limiter.report
        }
        var logger = Logger(label: "turnstile")
        logger.logLevel = .critical
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            services: [Sweeper(limiter: limiter)],
            onServerRunning: { channel in
                print("ready")
                let port = channel.localAddress!.port!
                Thread.detachNewThread { traffic(port: port) }
            },
            logger: logger
        )
        try await app.runService()
        print(await limiter.report)
    }
}
