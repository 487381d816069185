import Foundation

// Reverse proxy core: requests pass a chain of filters. The chain is composed again from the
// route's base handler whenever the configuration changes.

struct HTTPRequest {
    let method: String
    let path: String
    var headers: [String: String]
    let bodySize: Int
}

struct HTTPResponse {
    var status: Int
    var headers: [String: String] = [:]
    var length: Int
}

typealias Handler = (HTTPRequest) -> HTTPResponse

final class FilterSettings {
    let generation: Int
    let bodyLimit: Int
    let origins: Set<String>
    let rate: Int

    init(generation: Int) {
        self.generation = generation
        bodyLimit = 60_000 + generation % 7 * 1_000
        origins = ["https://shop.example", "https://admin.example", "https://g\(generation % 5).example"]
        rate = 40 + generation % 3
    }
}

enum Filters {
    static func limitBody(_ settings: FilterSettings, _ next: @escaping Handler) -> Handler {
        { request in
            request.bodySize > settings.bodyLimit ? HTTPResponse(status: 413, length: 0) : next(request)
        }
    }

    static func cors(_ settings: FilterSettings, _ next: @escaping Handler) -> Handler {
        { request in
            var response = next(request)
            if let origin = request.headers["Origin"], settings.origins.contains(origin) {
                response.headers["Access-Control-Allow-Origin"] = origin
            }
            return response
        }
    }

    static func etag(_ next: @escaping Handler) -> Handler {
        { request in
            var response = next(request)
            let tag = request.path.utf8.reduce(UInt32(response.length)) { ($0 ^ UInt32($1)) &* 16777619 }
            response.headers["ETag"] = String(tag, radix: 16)
            if request.headers["If-None-Match"] == response.headers["ETag"] {
                response.status = 304
                response.length = 0
            }
            return response
        }
    }
}

final class Proxy {
    private let base: Handler
    private var handler: Handler
    private(set) var settings: FilterSettings
    private(set) var statuses: [Int: Int] = [:]
    private(set) var bytes = 0

    init(base: @escaping Handler) {
        self.base = base
        handler = base
        settings = FilterSettings(generation: 0)
    }

    func apply(_ settings: FilterSettings) {
        self.settings = settings
        handler = Filters.limitBody(settings, Filters.cors(settings, Filters.etag(base)))
    }

    func serve(_ request: HTTPRequest) -> HTTPResponse {
        let response = handler(request)
        statuses[response.status, default: 0] += 1
        bytes += response.length
        return response
    }
}

let proxy = Proxy { request in
    let size = request.path.utf8.reduce(512) { ($0 &* 31 &+ Int($1)) & 0x3fff }
    return HTTPResponse(status: request.path.hasPrefix("/old") ? 410 : 200, headers: ["Server": "core"], length: size)
}
var tags: [String: String] = [:]
let pages = ["/", "/cart", "/old/catalog", "/item/12", "/item/77", "/search?q=lamp", "/help", "/terms"]

for generation in 1...170 {
    for reload in 0..<5 { proxy.apply(FilterSettings(generation: generation * 5 + reload)) }
    for index in 0..<50 {
        let page = pages[(index * 3 + generation) % pages.count]
        var headers = ["Origin": index % 4 == 0 ? "https://shop.example" : "https://other.example"]
        if index % 3 == 0, let known = tags[page] { headers["If-None-Match"] = known }
        let size = index % 25 == 24 ? 90_000 : index * 40
        let response = proxy.serve(HTTPRequest(method: "GET", path: page, headers: headers, bodySize: size))
        tags[page] = response.headers["ETag"]
    }
    Thread.sleep(forTimeInterval: 0.005)
}
let statuses = proxy.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
print("generation \(proxy.settings.generation), \(statuses.joined(separator: ", ")), \(proxy.bytes / 1024) KiB")
