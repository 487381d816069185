import Foundation

final class RequestContext: @unchecked Sendable {
    @TaskLocal static var current: RequestContext?

    let requestID: Int
    let user: String
    private let lock = NSLock()
    private var events: [String] = []

    init(requestID: Int, user: String) {
        self.requestID = requestID
        self.user = user
    }

    func log(_ text: String) {
        lock.withLock { events.append("[\(requestID)] \(text)") }
    }

    var eventCount: Int { lock.withLock { events.count } }
}

struct Product: Sendable {
    let sku: String
    var cents: Int
    var revision: Int
}

actor ProductCache {
    private var products: [String: Product] = [:]
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var refreshes = 0

    func product(_ sku: String) -> Product {
        if let product = products[sku] {
            hits += 1
            RequestContext.current?.log("hit \(sku)")
            return product
        }
        misses += 1
        RequestContext.current?.log("miss \(sku)")
        let product = Product(sku: sku, cents: price(sku, revision: 0), revision: 0)
        products[sku] = product
        Task(priority: .utility) {
            await keepFresh(sku)
        }
        return product
    }

    private func keepFresh(_ sku: String) async {
        while products[sku] != nil {
            try? await Task.sleep(for: .milliseconds(90))
            guard var product = products[sku] else { return }
            product.revision += 1
            product.cents = price(sku, revision: product.revision)
            products[sku] = product
            refreshes += 1
        }
    }

    private func price(_ sku: String, revision: Int) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in "\(sku)@\(revision)".utf8 {
            hash = (hash ^ UInt32(byte)) &* 16_777_619
        }
        return 99 + Int(hash % 50_000)
    }
}

actor AccessLog {
    private(set) var requests = 0
    private(set) var events = 0

    func record(_ context: RequestContext) {
        requests += 1
        events += context.eventCount
    }
}

struct CatalogHandler: Sendable {
    let cache: ProductCache
    let log: AccessLog

    func respond(to id: Int) async -> String {
        let context = RequestContext(requestID: id, user: "user-\(id % 60)")
        return await RequestContext.$current.withValue(context) {
            let product = await cache.product("SKU-\(id % 40)")
            await log.record(context)
            return "{\"sku\":\"\(product.sku)\",\"cents\":\(product.cents),\"rev\":\(product.revision)}"
        }
    }
}

@main
struct CatalogAPI {
    static func main() async throws {
        let cache = ProductCache()
        let log = AccessLog()
        let handler = CatalogHandler(cache: cache, log: log)
        var bytes = 0
        for batch in 0..<10 {
            await withTaskGroup(of: Int.self) { group in
                for n in 0..<40 {
                    group.addTask { await handler.respond(to: batch * 40 + n).utf8.count }
                }
                for await count in group {
                    bytes += count
                }
            }
            try await Task.sleep(for: .milliseconds(80))
        }
        let refreshes = await cache.refreshes
        print("requests \(await log.requests), hits \(await cache.hits), misses \(await cache.misses), refreshed \(refreshes > 40), body bytes \(bytes > 10_000)")
    }
}
