import AsyncHTTPClient
import Foundation
import Glibc
import Hummingbird
import Logging
import ServiceLifecycle

/// A customer's basket; good for a minute after the last click.
final class Basket: @unchecked Sendable {
    let id: Int
    var seats: [Int] = []
    var expires: ContinuousClock.Instant

    init(id: Int, expires: ContinuousClock.Instant) {
        self.id = id
        self.expires = expires
    }
}

final class Bucket: @unchecked Sendable {
    var tokens: Double
    var updated: ContinuousClock.Instant

    init(tokens: Double, updated: ContinuousClock.Instant) {
        self.tokens = tokens
        self.updated = updated
    }
}

actor Office {
    private var baskets: [Int: Basket] = [:]
    private var buckets: [String: Bucket] = [:]
    private var printing: [Int] = []
    private var nextBasket = 0
    private(set) var printed = 0

    func allow(_ customer: String) -> Bool {
        let now = ContinuousClock.now
        let bucket = buckets[customer] ?? Bucket(tokens: 5, updated: now)
        buckets[customer] = bucket
        let seconds = Double((now - bucket.updated).components.attoseconds) / 1e18
        bucket.tokens = min(5, bucket.tokens + seconds * 50)
        bucket.updated = now
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    func reserve(seat: Int) -> Int {
        nextBasket += 1
        let basket = Basket(id: nextBasket, expires: .now + .seconds(60))
        basket.seats.append(seat)
        baskets[basket.id] = basket
        return basket.id
    }

    func buy(_ id: Int) -> Bool {
        guard let basket = baskets.removeValue(forKey: id), basket.expires > .now else { return false }
        printing.append(contentsOf: basket.seats)
        return true
    }

    func printNext() {
        guard !printing.isEmpty else { return }
        printing.removeFirst()
        printed += 1
    }

    func sweep() {
        let now = ContinuousClock.now
        baskets = baskets.filter { $0.value.expires > now }
        buckets = buckets.filter { now - $0.value.updated < .milliseconds(150) }
    }

    var state: String { "\(baskets.count) baskets, \(buckets.count) buckets, \(printing.count) tickets to print" }
}

struct Sweeper: Service {
    let office: Office
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .milliseconds(50))
                await office.sweep()
            }
        }
    }
}

struct TicketPrinter: Service {
    let office: Office
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .milliseconds(8))
                await office.printNext()
            }
        }
    }
}

@main
struct BoxOffice {
    static let office = Office()

    static func main() async throws {
        let router = Router()
        router.get("reserve/:seat") { request, context -> String in
            let customer = request.uri.queryParameters.get("customer") ?? "?"
            guard await office.allow(customer) else { throw HTTPError(.tooManyRequests) }
            return "\(await office.reserve(seat: try context.parameters.require("seat", as: Int.self)))"
        }
        router.get("buy/:basket") { _, context -> String in
            let sold = await office.buy(try context.parameters.require("basket", as: Int.self))
            return sold ? "sold" : "expired"
        }

        var logger = Logger(label: "boxoffice")
        logger.logLevel = .critical
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            services: [Sweeper(office: office), TicketPrinter(office: office)],
            onServerRunning: { channel in
                let port = channel.localAddress!.port!
                print("ready")
                Task { try await rush(base: "http://127.0.0.1:\(port)", client: client) }
            },
            logger: logger
        )
        try await app.runService(gracefulShutdownSignals: [.sigterm])
        try await client.shutdown()
        print(await office.state)
    }

    /// 600 reservations, half of them bought; the rest is undecided when the office closes.
    static func rush(base: String, client: HTTPClient) async throws {
        for number in 0..<600 {
            let url = "\(base)/reserve/\(number)?customer=c\(number % 200)"
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            let basket = String(buffer: try await response.body.collect(upTo: 1024))
            if number % 2 == 0, response.status == .ok {
                let bought = try await client.execute(HTTPClientRequest(url: "\(base)/buy/\(basket)"), timeout: .seconds(5))
                _ = try await bought.body.collect(upTo: 1024)
            }
        }
        try await Task.sleep(for: .milliseconds(400))
        Thread.detachNewThread { kill(getpid(), SIGTERM) }
    }
}
