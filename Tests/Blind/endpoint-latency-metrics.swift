// Request handling for a library catalogue API with rolling latency figures.
import Foundation

final class LatencySample {
    let micros: Int
    let status: Int

    init(micros: Int, status: Int) {
        self.micros = micros
        self.status = status
    }
}

final class EndpointMetrics {
    let window = 50
    private var samples: [String: [LatencySample]] = [:]
    private let lock = NSLock()

    func observe(_ endpoint: String, micros: Int, status: Int) {
        lock.lock()
        defer { lock.unlock() }
        samples[endpoint, default: []].append(LatencySample(micros: micros, status: status))
    }

    func p95(_ endpoint: String) -> Int {
        lock.lock()
        defer { lock.unlock() }
        guard let all = samples[endpoint] else { return 0 }
        let recent = all.suffix(window).map(\.micros).sorted()
        return recent.isEmpty ? 0 : recent[(recent.count - 1) * 95 / 100]
    }

    func errorRate(_ endpoint: String) -> Double {
        lock.lock()
        defer { lock.unlock() }
        guard let recent = samples[endpoint]?.suffix(window), !recent.isEmpty else { return 0 }
        return Double(recent.filter { $0.status >= 500 }.count) / Double(recent.count)
    }
}

struct Book {
    let isbn: String
    let title: String
    var copies: Int
}

final class CatalogueAPI {
    private var books: [Book]
    let metrics = EndpointMetrics()

    init(books: [Book]) { self.books = books }

    func handle(_ endpoint: String, argument: Int) -> Int {
        let started = DispatchTime.now().uptimeNanoseconds
        var status = 200
        switch endpoint {
        case "/search": if books.filter({ $0.title.contains("\(argument % 10)") }).isEmpty { status = 404 }
        case "/book": if argument % 41 == 0 { status = 404 }
        case "/borrow":
            let i = argument % books.count
            if books[i].copies > 0 { books[i].copies -= 1 } else { status = 409 }
        case "/return": books[argument % books.count].copies += 1
        case "/covers": if argument % 17 == 0 { status = 503 }
        default: status = books.isEmpty ? 500 : 200
        }
        let micros = Int(DispatchTime.now().uptimeNanoseconds - started) / 1000
        metrics.observe(endpoint, micros: micros, status: status)
        return status
    }
}

let api = CatalogueAPI(books: (0..<40).map { Book(isbn: "978-0-\(1000 + $0)", title: "Volume \($0)", copies: 3) })
let endpoints = ["/search", "/book", "/borrow", "/return", "/covers", "/health"]
var byStatus: [Int: Int] = [:]
var alerts = 0

for request in 0..<2400 {
    let endpoint = endpoints[request % endpoints.count]
    byStatus[api.handle(endpoint, argument: request / 3), default: 0] += 1
    if request % 120 == 119 {
        for name in endpoints where api.metrics.errorRate(name) > 0.1 || api.metrics.p95(name) > 50_000 {
            alerts += 1
        }
        usleep(5000)
    }
}

print("requests: 2400, alert checks raised: \(alerts)")
print("statuses: " + byStatus.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
