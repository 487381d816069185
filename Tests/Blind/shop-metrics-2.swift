// Request metrics of a web shop: a router handles requests and records durations by label.

final class Counter {
    private(set) var value = 0

    func increment(by amount: Int = 1) {
        value += amount
    }
}

final class Histogram {
    let name: String
    private var buckets: [Int]
    private let bounds: [Int]
    private(set) var sum = 0

    init(name: String, bounds: [Int]) {
        self.name = name
        self.bounds = bounds
        buckets = Array(repeating: 0, count: bounds.count + 1)
    }

    func observe(_ micros: Int) {
        sum += micros
        let slot = bounds.firstIndex { micros <= $0 } ?? bounds.count
        buckets[slot] += 1
    }
}

final class MetricsRegistry {
    private var counters: [String: Counter] = [:]
    private var histograms: [String: Histogram] = [:]
    private let bounds = [100, 250, 500, 1_000, 2_500]

    func counter(_ name: String) -> Counter {
        if let known = counters[name] { return known }
        let made = Counter()
        counters[name] = made
        return made
    }

    func histogram(_ name: String) -> Histogram {
        if let known = histograms[name] { return known }
        let made = Histogram(name: name, bounds: bounds)
        histograms[name] = made
        return made
    }

    func exposition() -> [String] {
        counters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.value)" }
    }
}

struct Request {
    let method: String
    let path: String
}

struct Response {
    let status: Int
    let body: String
}

protocol Handler {
    var prefix: String { get }
    func handle(_ request: Request) -> Response
}

struct OrderHandler: Handler {
    let prefix = "/orders/"

    func handle(_ request: Request) -> Response {
        guard let number = Int(request.path.dropFirst(prefix.count)) else {
            return Response(status: 400, body: "bad order number")
        }
        if number % 97 == 0 {
            return Response(status: 404, body: "no order \(number)")
        }
        var digits = 0
        var rest = number
        while rest > 0 {
            digits += rest % 10
            rest /= 10
        }
        return Response(status: 200, body: "{\"order\": \(number), \"check\": \(digits)}")
    }
}

final class Router {
    private let handlers: [Handler]
    private let metrics: MetricsRegistry

    init(handlers: [Handler], metrics: MetricsRegistry) {
        self.handlers = handlers
        self.metrics = metrics
    }

    func serve(_ request: Request) -> Response {
        let handler = handlers.first { request.path.hasPrefix($0.prefix) }
        let response = handler?.handle(request) ?? Response(status: 404, body: "")
        let duration = 80 + (request.path.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFFFF }) % 3_000
        metrics.histogram("latency{method=\(request.method),path=\(request.path)}").observe(duration)
        metrics.counter("responses{status=\(response.status)}").increment()
        metrics.counter("bytes_out").increment(by: response.body.utf8.count)
        return response
    }
}

let registry = MetricsRegistry()
let router = Router(handlers: [OrderHandler()], metrics: registry)
var bodyBytes = 0
var misses = 0

for visit in 0..<2_000 {
    let response = router.serve(Request(method: "GET", path: "/orders/\(50_000 + visit * 3)"))
    bodyBytes += response.body.utf8.count
    if response.status == 404 {
        misses += 1
    }
}

print("served 2000 requests, \(misses) misses, \(bodyBytes) bytes")
for line in registry.exposition() {
    print("  \(line)")
}
