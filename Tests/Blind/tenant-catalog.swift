import Foundation
import Synchronization

final class RequestTrace: Sendable {
    struct Span: Sendable {
        let name: String
        let ordinal: Int
    }

    let requestID: Int
    let path: String
    private let spans = Mutex<[Span]>([])

    init(requestID: Int, path: String) {
        self.requestID = requestID
        self.path = path
    }

    func mark(_ name: String) {
        spans.withLock { $0.append(Span(name: name, ordinal: $0.count)) }
    }

    var spanCount: Int { spans.withLock { $0.count } }
}

enum RequestScope {
    @TaskLocal static var trace: RequestTrace?
}

struct Product: Sendable {
    let sku: String
    let cents: Int
}

actor ProductStore {
    private(set) var revision = 0
    private(set) var loads = 0

    func publish() { revision += 1 }

    func load(tenant: String) -> (revision: Int, products: [Product]) {
        loads += 1
        let seed = tenant.utf8.reduce(0) { $0 &+ Int($1) }
        let products = (0..<12).map { Product(sku: "\(tenant)-\($0)", cents: (seed * ($0 + 3)) % 5000) }
        return (revision, products)
    }
}

actor TenantCatalog {
    private let tenant: String
    private let store: ProductStore
    private var products: [Product] = []
    private var revision = -1
    private var refresher: Task<Void, Never>?

    init(tenant: String, store: ProductStore) {
        self.tenant = tenant
        self.store = store
    }

    func prime() async {
        await refresh()
        refresher = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(60))
                guard let self else { return }
                await self.refresh()
            }
        }
    }

    private func refresh() async {
        if revision >= 0, await store.revision == revision { return }
        let fresh = await store.load(tenant: tenant)
        revision = fresh.revision
        products = fresh.products
    }

    func cheapest(under limit: Int) -> Product? {
        products.filter { $0.cents < limit }.min { $0.cents < $1.cents }
    }
}

actor CatalogDirectory {
    private let store: ProductStore
    private var catalogs: [String: TenantCatalog] = [:]

    init(store: ProductStore) { self.store = store }

    var tenants: Int { catalogs.count }

    func catalog(for tenant: String) async -> TenantCatalog {
        if let existing = catalogs[tenant] {
            RequestScope.trace?.mark("catalog.hit")
            return existing
        }
        let catalog = TenantCatalog(tenant: tenant, store: store)
        catalogs[tenant] = catalog
        await catalog.prime()
        RequestScope.trace?.mark("catalog.primed")
        return catalog
    }
}

struct SearchEndpoint {
    let directory: CatalogDirectory

    func serve(id: Int, tenant: String, limit: Int) async -> (hit: Bool, spans: Int) {
        let trace = RequestTrace(requestID: id, path: "/\(tenant)/search?limit=\(limit)")
        return await RequestScope.$trace.withValue(trace) {
            trace.mark("accepted")
            let hit = await search(tenant: tenant, limit: limit)
            RequestScope.trace?.mark("answered")
            return (hit, trace.spanCount)
        }
    }

    private func search(tenant: String, limit: Int) async -> Bool {
        let catalog = await directory.catalog(for: tenant)
        RequestScope.trace?.mark("lookup")
        return await catalog.cheapest(under: limit) != nil
    }
}

@main
struct CatalogServer {
    static let store = ProductStore()
    static let directory = CatalogDirectory(store: store)

    static func main() async throws {
        let endpoint = SearchEndpoint(directory: directory)
        var hits = 0
        var spans = 0
        var requests = 0

        for round in 0..<80 {
            let known = round + 1
            for step in 0..<20 {
                let tenant = "t\(step == 0 ? round : (round * 5 + step * 3) % known)"
                let answer = await endpoint.serve(id: requests, tenant: tenant, limit: 60 + step * 25)
                requests += 1
                spans += answer.spans
                if answer.hit { hits += 1 }
            }
            if round % 16 == 15 { await store.publish() }
            try await Task.sleep(for: .milliseconds(9))
        }

        print("requests \(requests), hits \(hits), spans \(spans)")
        print("tenants \(await directory.tenants), revision \(await store.revision)")
    }
}
