import Foundation

// Shop API with request metrics per route template and a scrape endpoint.

struct Route: Hashable {
    let method: String
    let template: String
    let segments: [String]

    init(_ method: String, _ template: String) {
        self.method = method
        self.template = template
        segments = template.split(separator: "/").map(String.init)
    }

    func match(_ path: [Substring]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, path) {
            if segment.hasPrefix(":") { values[String(segment.dropFirst())] = String(part) } else if segment != part { return nil }
        }
        return values
    }
}

final class LatencyMetric {
    let route: Route
    private(set) var count = 0
    private var sum = 0
    private var statuses: [Int: Int] = [:]

    init(route: Route) { self.route = route }

    func observe(status: Int, micros: Int) {
        count += 1
        sum += micros
        statuses[status / 100, default: 0] += 1
    }

    var lines: [String] {
        let name = "route=\"\(route.template)\",method=\"\(route.method)\""
        return ["shop_micros_sum{\(name)} \(sum)", "shop_micros_count{\(name)} \(count)"]
            + statuses.keys.sorted().map { "shop_responses{\(name),class=\"\($0)xx\"} \(statuses[$0]!)" }
    }
}

final class Router {
    typealias Action = ([String: String]) -> Int
    private var table: [(route: Route, action: Action)] = []
    private var metrics: [Route: LatencyMetric] = [:]
    private let unmatched = LatencyMetric(route: Route("ANY", "/unmatched"))

    func on(_ method: String, _ template: String, _ action: @escaping Action) {
        table.append((Route(method, template), action))
    }

    func handle(_ method: String, _ path: String) -> Int {
        let parts = path.split(separator: "/")
        let micros = path.utf8.reduce(25) { ($0 &* 17 &+ Int($1)) & 0x7ff }
        for (route, action) in table where route.method == method {
            guard let values = route.match(parts) else { continue }
            let status = action(values)
            let metric = metrics[route] ?? LatencyMetric(route: route)
            metrics[route] = metric
            metric.observe(status: status, micros: micros)
            return status
        }
        unmatched.observe(status: 404, micros: micros)
        return 404
    }

    func scrape() -> String {
        let all = metrics.values.sorted { $0.route.template < $1.route.template } + [unmatched]
        return all.flatMap(\.lines).joined(separator: "\n")
    }
}

var stock: [String: Int] = [:]
for article in 0..<250 { stock["a\(article)"] = 40 }
var orders: [String: Int] = [:]

let router = Router()
router.on("GET", "/articles/:id") { stock[$0["id"] ?? ""] == nil ? 404 : 200 }
router.on("GET", "/articles/:id/stock") { (stock[$0["id"] ?? ""] ?? 0) > 0 ? 200 : 410 }
router.on("POST", "/orders/:order/lines/:id") { values in
    guard let id = values["id"], let order = values["order"], let left = stock[id], left > 0 else { return 409 }
    stock[id] = left - 1
    orders[order, default: 0] += 1
    return 201
}
router.on("DELETE", "/orders/:order") { values in
    orders.removeValue(forKey: values["order"] ?? "") == nil ? 404 : 204
}

var answered: [Int: Int] = [:]
var scraped = 0
for tick in 0..<140 {
    for slot in 0..<8 {
        let order = "o\(tick * 8 + slot)", article = "a\((tick * 13 + slot * 7) % 260)"
        let calls = [
            ("GET", "/articles/\(article)"), ("GET", "/articles/\(article)/stock"),
            ("POST", "/orders/\(order)/lines/\(article)"), ("DELETE", "/orders/\(order)"), ("GET", "/img/\(order).png"),
        ]
        for (method, path) in calls { answered[router.handle(method, path), default: 0] += 1 }
    }
    if tick % 20 == 19 { scraped += router.scrape().utf8.count }
    usleep(5_500)
}
print(answered.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
print("open orders \(orders.count), scraped \(scraped) bytes")
