import Foundation

final class Histogram {
    let label: String
    private var buckets = [Int](repeating: 0, count: 24)
    private(set) var count = 0
    private(set) var sum = 0.0
    init(label: String) { self.label = label }

    func observe(_ value: Double) {
        count += 1
        sum += value
        let slot = min(buckets.count - 1, Int(value.squareRoot()))
        buckets[slot] += 1
    }
}

final class HTTPExchange {
    let method: String
    let path: String
    let status: Int
    let milliseconds: Double
    init(method: String, path: String, status: Int, milliseconds: Double) {
        self.method = method
        self.path = path
        self.status = status
        self.milliseconds = milliseconds
    }
}

struct RouteNormalizer {
    func normalize(_ path: String) -> String {
        path.split(separator: "/").map { segment -> String in
            segment.allSatisfy { $0.isNumber } ? ":id" : String(segment)
        }.joined(separator: "/")
    }
}

final class MetricsRegistry {
    private var histograms: [String: Histogram] = [:]
    private let normalizer = RouteNormalizer()
    private var recent: [HTTPExchange] = []

    func record(_ exchange: HTTPExchange) {
        let label = "\(exchange.method) \(normalizer.normalize(exchange.path)) \(exchange.status / 100)xx"
        let histogram = histograms[label] ?? Histogram(label: label)
        histogram.observe(exchange.milliseconds)
        histograms[label] = histogram
        recent.append(exchange)
        if recent.count > 50 { recent.removeFirst(25) }
    }

    func scrape() -> (samples: Int, total: Double) {
        (histograms.values.reduce(0) { $0 + $1.count }, histograms.values.reduce(0) { $0 + $1.sum })
    }
}

func exchange(for n: Int) -> HTTPExchange {
    let time = Double((n * 37) % 400)
    switch n % 20 {
    case 0..<8: return HTTPExchange(method: "GET", path: "/users/\(n)", status: 200, milliseconds: time)
    case 8..<13: return HTTPExchange(method: "GET", path: "/users/\(n)/orders/\(n * 3)", status: 200, milliseconds: time)
    case 13..<16: return HTTPExchange(method: "POST", path: "/orders", status: n % 3 == 0 ? 422 : 201, milliseconds: time)
    case 16: return HTTPExchange(method: "GET", path: "/files/f" + String(1_000_000 + n, radix: 16), status: 200, milliseconds: time)
    default: return HTTPExchange(method: "GET", path: "/health", status: 200, milliseconds: 1)
    }
}

let registry = MetricsRegistry()
var n = 0
var scrapes = 0
for second in 0..<60 {
    for _ in 0..<100 {
        registry.record(exchange(for: n))
        n += 1
    }
    if second % 10 == 9 { scrapes += registry.scrape().samples > 0 ? 1 : 0 }
    Thread.sleep(forTimeInterval: 0.015)
}
let closing = registry.scrape()
print("samples \(closing.samples), total \(closing.total) ms, scrapes \(scrapes)")
