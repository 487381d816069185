import Foundation

final class LatencyHistogram {
    let label: String
    private var buckets = [Int](repeating: 0, count: 8)

    init(label: String) { self.label = label }

    func observe(micros: Int) {
        var bucket = 0
        while bucket < buckets.count - 1 && micros > (100 << bucket) { bucket += 1 }
        buckets[bucket] += 1
    }

    var total: Int { buckets.reduce(0, +) }
}

final class MetricsRegistry {
    static let shared = MetricsRegistry()
    private var histograms: [String: LatencyHistogram] = [:]

    func histogram(_ label: String) -> LatencyHistogram {
        if let existing = histograms[label] { return existing }
        let created = LatencyHistogram(label: label)
        histograms[label] = created
        return created
    }

    func scrape() -> String {
        histograms.values.map { "\($0.label) \($0.total)" }.sorted().joined(separator: "\n")
    }

    var seriesCount: Int { histograms.count }
}

final class HTTPRequest {
    let method: String
    let path: String
    init(method: String, path: String) {
        self.method = method
        self.path = path
    }
}

final class RequestContext {
    let request: HTTPRequest
    private let started: Int
    private var attributes: [String: String] = [:]

    init(request: HTTPRequest, now: Int) {
        self.request = request
        self.started = now
    }

    func set(_ key: String, _ value: String) { attributes[key] = value }

    func finish(now: Int) {
        let label = "\(request.method) \(request.path)"
        MetricsRegistry.shared.histogram(label).observe(micros: now - started)
    }
}

final class OrderService {
    private(set) var handled = 0

    func handle(_ request: HTTPRequest, now: Int) {
        let context = RequestContext(request: request, now: now)
        context.set("user", "u\(handled % 7)")
        handled += 1
        context.finish(now: now + 90 + (handled * 71) % 4000)
    }
}

let service = OrderService()
var scraped = 0
for order in 0..<500 {
    service.handle(HTTPRequest(method: "GET", path: "/orders/\(order)"), now: order * 10_000)
    if order % 100 == 99 { scraped += MetricsRegistry.shared.scrape().utf8.count }
}
print("handled \(service.handled) series \(MetricsRegistry.shared.seriesCount) scraped \(scraped)")
