import Foundation

struct Request {
    let id: Int
    let method: String
    let path: String
    let ifNoneMatch: String?
}

struct Response {
    let status: Int
    let body: [UInt8]
    var etag: String?
}

final class Exchange {
    let request: Request
    let upstream: String
    var attempts = 0
    var scratch: [UInt8] = []

    init(request: Request, upstream: String) {
        self.request = request
        self.upstream = upstream
    }
}

final class ExchangeTable {
    private var open: [Int: Exchange] = [:]

    func begin(_ request: Request, upstream: String) -> Exchange {
        let exchange = Exchange(request: request, upstream: upstream)
        open[request.id] = exchange
        return exchange
    }

    func end(_ exchange: Exchange) {
        open[exchange.request.id] = nil
    }
}

final class Gateway {
    private let routes: [(prefix: String, upstream: String)]
    private let table = ExchangeTable()
    private var etags: [String: String] = [:]
    private(set) var statusCounts: [Int: Int] = [:]
    private(set) var bytesOut = 0

    init(routes: [(prefix: String, upstream: String)]) { self.routes = routes }

    func serve(_ request: Request) -> Response {
        let response = route(request)
        statusCounts[response.status, default: 0] += 1
        bytesOut += response.body.count
        return response
    }

    private func route(_ request: Request) -> Response {
        guard let match = routes.first(where: { request.path.hasPrefix($0.prefix) }) else {
            return Response(status: 404, body: Array("no route".utf8))
        }
        let exchange = table.begin(request, upstream: match.upstream)

        if request.method == "GET", let tag = request.ifNoneMatch, etags[request.path] == tag {
            return Response(status: 304, body: [], etag: tag)
        }

        var status = callUpstream(exchange)
        while status == 502 && exchange.attempts < 3 {
            status = callUpstream(exchange)
        }
        let body = status == 200 ? exchange.scratch : Array("upstream \(match.upstream) failed".utf8)
        var response = Response(status: status, body: body)
        if status == 200 && request.method == "GET" {
            let tag = "W/\(request.path.utf8.reduce(5381) { ($0 &* 33 &+ Int($1)) % 1_000_003 })"
            etags[request.path] = tag
            response.etag = tag
        }
        table.end(exchange)
        return response
    }

    private func callUpstream(_ exchange: Exchange) -> Int {
        exchange.attempts += 1
        let h = (exchange.request.id * 2654435761 + exchange.attempts * 40503) % 1000
        if h < 60 { return 502 }
        exchange.scratch = (0..<(16 + h % 48)).map { UInt8(($0 * 7 + h) % 251) }
        return 200
    }
}

let gateway = Gateway(routes: [
    (prefix: "/orders", upstream: "orders.internal:8080"),
    (prefix: "/stock", upstream: "stock.internal:8081"),
    (prefix: "/images", upstream: "blob.internal:9000"),
])

let paths = ["/orders/recent", "/stock/all", "/images/logo.png", "/images/hero.jpg", "/admin", "/orders/42"]
var known: [[String: String]] = Array(repeating: [:], count: 40)
var seed = 12345

for id in 1...2500 {
    seed = (seed * 16807) % 2147483647
    let client = seed % known.count
    let path = paths[(seed / 97) % paths.count]
    let post = (seed / 1009) % 5 == 0 && path.hasPrefix("/orders")
    let response = gateway.serve(Request(id: id,
                                         method: post ? "POST" : "GET",
                                         path: path,
                                         ifNoneMatch: client % 2 == 0 ? known[client][path] : nil))
    if let tag = response.etag { known[client][path] = tag }
}

for status in gateway.statusCounts.keys.sorted() {
    print("\(status): \(gateway.statusCounts[status]!)")
}
print("bytes out \(gateway.bytesOut)")
