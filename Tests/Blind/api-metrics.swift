import Foundation

// HTTP API of a booking system with a Prometheus-like metrics page.

struct Call {
    let method: String
    let path: String
    let body: String
}

enum APIError: Error { case notFound, conflict, badRequest }

final class RouteMetric {
    let label: String
    private(set) var count = 0
    private(set) var errors = 0
    private var buckets = [Int](repeating: 0, count: 8)

    init(label: String) { self.label = label }

    func observe(micros: Int, failed: Bool) {
        count += 1
        if failed { errors += 1 }
        let slot = min(buckets.count - 1, Int.bitWidth - max(1, micros / 50).leadingZeroBitCount - 1)
        buckets[slot] += 1
    }

    func exposition(into text: inout String) {
        text += "http_requests_total{route=\"\(label)\"} \(count)\n"
        if errors > 0 { text += "http_errors_total{route=\"\(label)\"} \(errors)\n" }
        var running = 0
        for (index, value) in buckets.enumerated() where value > 0 {
            running += value
            text += "http_micros_bucket{route=\"\(label)\",le=\"\(50 << index)\"} \(running)\n"
        }
    }
}

final class MetricsRegistry {
    private var metrics: [String: RouteMetric] = [:]

    func metric(_ label: String) -> RouteMetric {
        if let metric = metrics[label] { return metric }
        let metric = RouteMetric(label: label)
        metrics[label] = metric
        return metric
    }

    func scrape() -> String {
        var text = ""
        for label in metrics.keys.sorted() { metrics[label]?.exposition(into: &text) }
        return text
    }
}

struct Booking {
    var room: Int
    var nights: Int
    var guests: Int
}

final class BookingAPI {
    private let registry: MetricsRegistry
    private var bookings: [Int: Booking] = [:]

    init(registry: MetricsRegistry) { self.registry = registry }

    func handle(_ call: Call) -> Int {
        var status = 200
        do { try dispatch(call) } catch APIError.notFound { status = 404 } catch APIError.conflict { status = 409 } catch { status = 400 }
        let micros = call.body.utf8.reduce(40) { ($0 &* 33 &+ Int($1)) & 0xfff }
        registry.metric("\(call.method) \(call.path)").observe(micros: micros, failed: status >= 400)
        return status
    }

    private func dispatch(_ call: Call) throws {
        let parts = call.path.split(separator: "/").map(String.init)
        guard parts.first == "bookings" else { throw APIError.notFound }
        guard parts.count > 1 else { return }
        guard let id = Int(parts[1]) else { throw APIError.badRequest }
        switch call.method {
        case "PUT":
            let fields = call.body.split(separator: ",").compactMap { Int($0) }
            guard fields.count == 3 else { throw APIError.badRequest }
            guard bookings[id] == nil else { throw APIError.conflict }
            bookings[id] = Booking(room: fields[0], nights: fields[1], guests: fields[2])
        case "GET":
            guard bookings[id] != nil else { throw APIError.notFound }
        case "DELETE":
            guard bookings.removeValue(forKey: id) != nil else { throw APIError.notFound }
        default:
            throw APIError.badRequest
        }
    }

    var open: Int { bookings.count }
}

let registry = MetricsRegistry()
let api = BookingAPI(registry: registry)
var statuses: [Int: Int] = [:]
var scraped = 0

for tick in 0..<120 {
    for slot in 0..<8 {
        let id = 500_000 + tick * 8 + slot
        let calls = [
            Call(method: "PUT", path: "/bookings/\(id)", body: "\(id % 300),\(slot % 6 + 1),2"),
            Call(method: "GET", path: "/bookings/\(id)", body: ""),
            Call(method: "DELETE", path: "/bookings/\(id)", body: ""),
        ]
        for call in calls { statuses[api.handle(call), default: 0] += 1 }
    }
    statuses[api.handle(Call(method: "GET", path: "/bookings", body: "")), default: 0] += 1
    if tick % 20 == 19 { scraped += registry.scrape().utf8.count }
    Thread.sleep(forTimeInterval: 0.006)
}
print("open \(api.open), \(statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))")
print("scraped \(scraped / 1024) KiB")
