import Foundation

struct Labels: Hashable {
    let name: String
    let pairs: [String]
}

final class Histogram {
    private var buckets = [Int](repeating: 0, count: 8)
    private(set) var count = 0
    func add(_ ms: Int) {
        var i = 0
        var limit = 1
        while i < 7 && ms > limit {
            i += 1
            limit *= 3
        }
        buckets[i] += 1
        count += 1
    }
    func quantile(_ q: Double) -> Int {
        let goal = Int(Double(count) * q)
        var sum = 0
        for (i, n) in buckets.enumerated() {
            sum += n
            if sum >= goal { return i }
        }
        return 7
    }
}

final class Series {
    let labels: Labels
    private(set) var total = 0
    private var sinceFlush = 0
    var isDirty = false
    init(labels: Labels) { self.labels = labels }

    func increment() {
        total += 1
        sinceFlush += 1
    }
    func take() -> Int {
        defer { sinceFlush = 0 }
        isDirty = false
        return sinceFlush
    }
}

final class MetricRegistry {
    private var series: [Labels: Series] = [:]
    private var dirty: [Series] = []
    private let lock = NSLock()

    func increment(_ labels: Labels) {
        lock.lock()
        defer { lock.unlock() }
        let s: Series
        if let known = series[labels] {
            s = known
        } else {
            s = Series(labels: labels)
            series[labels] = s
        }
        s.increment()
        if !s.isDirty {
            s.isDirty = true
            dirty.append(s)
        }
    }

    func flush() -> [(Labels, Int)] {
        lock.lock()
        defer { lock.unlock() }
        let result = dirty.map { ($0.labels, $0.take()) }
        dirty.removeAll()
        return result
    }

    func total(_ labels: Labels) -> Int {
        lock.lock()
        defer { lock.unlock() }
        return series[labels]?.total ?? 0
    }
}

final class Router {
    private let routes = ["users", "orders", "items", "login", "health"]
    func template(_ path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let first = parts.first, routes.contains(String(first)) else { return nil }
        return parts.count > 1 ? "/\(first)/:id" : "/\(first)"
    }
}

final class Middleware {
    private let registry: MetricRegistry
    private let router = Router()
    private let latency = Histogram()
    private let lock = NSLock()

    init(registry: MetricRegistry) { self.registry = registry }

    func observe(method: String, path: String, status: Int, milliseconds: Int) {
        let route = router.template(path) ?? path
        registry.increment(Labels(name: "http_requests", pairs: [method, route, "\(status / 100)xx"]))
        lock.lock()
        latency.add(milliseconds)
        lock.unlock()
    }

    var p90: Int {
        lock.lock()
        defer { lock.unlock() }
        return latency.quantile(0.9)
    }
}

final class Exporter {
    private let registry: MetricRegistry
    private let queue = DispatchQueue(label: "export")
    private var timer: DispatchSourceTimer?
    private var flushes = 0
    private var points = 0
    private var busiest = (route: "", count: 0)

    init(registry: MetricRegistry) { self.registry = registry }

    func start() {
        let t = DispatchSource.makeTimerSource(queue: queue)
        t.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100))
        t.setEventHandler { [unowned self] in self.push() }
        t.resume()
        timer = t
    }

    private func push() {
        flushes += 1
        for (labels, n) in registry.flush() {
            points += 1
            if n > busiest.count { busiest = (labels.pairs[1], n) }
        }
    }

    func stop() -> String {
        queue.sync {
            timer?.cancel()
            timer = nil
            push()
            return "flushes \(flushes) points \(points) busiest \(busiest.route) \(busiest.count)"
        }
    }
}

func handle(_ n: Int, _ m: Middleware) {
    let method = n % 4 == 0 ? "POST" : "GET"
    switch n % 23 {
    case 7: m.observe(method: "GET", path: "/old/\(n)/page", status: 404, milliseconds: 1)
    case 3, 12: m.observe(method: method, path: "/orders/\(n)", status: n % 5 == 0 ? 500 : 200, milliseconds: n % 300)
    case 9: m.observe(method: "GET", path: "/health", status: 200, milliseconds: 1)
    case 15, 16: m.observe(method: method, path: "/items/\(n % 90)", status: 200, milliseconds: n % 60)
    default: m.observe(method: method, path: "/users/\(n)", status: 200, milliseconds: n % 120)
    }
}

func runAgent() {
    let registry = MetricRegistry()
    let middleware = Middleware(registry: registry)
    let exporter = Exporter(registry: registry)
    exporter.start()
    let group = DispatchGroup()
    for worker in 0..<2 {
        DispatchQueue.global().async(group: group) {
            for i in 0..<6000 {
                handle(i * 2 + worker, middleware)
                if i % 20 == 0 { usleep(7_000) }
            }
        }
    }
    group.wait()
    let line = exporter.stop()
    let health = registry.total(Labels(name: "http_requests", pairs: ["GET", "/health", "2xx"]))
    print(line, "p90 bucket \(middleware.p90)", "health \(health)")
}

runAgent()
