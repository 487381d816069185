import Foundation

struct Response {
    var status: Int
    var body: [UInt8]
    var headers: [String: String] = [:]
}

final class RequestContext {
    let id: Int
    let method: String
    let path: String
    var parameters: [String: String] = [:]
    var principal: String?
    var attempts = 0
    let body: [UInt8]
    var replay: (() -> Response)?

    init(id: Int, method: String, path: String) {
        self.id = id
        self.method = method
        self.path = path
        body = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 700)
    }
}

typealias Handler = (RequestContext) -> Response
typealias Middleware = (@escaping Handler) -> Handler

final class RouteNode {
    private var literals: [String: RouteNode] = [:]
    private var wildcard: (name: String, node: RouteNode)?
    private var handlers: [String: Handler] = [:]

    func add(_ segments: ArraySlice<Substring>, method: String, handler: @escaping Handler) {
        guard let head = segments.first else {
            handlers[method] = handler
            return
        }
        let node: RouteNode
        if head.hasPrefix(":") {
            node = wildcard?.node ?? RouteNode()
            wildcard = (String(head.dropFirst()), node)
        } else {
            node = literals[String(head)] ?? RouteNode()
            literals[String(head)] = node
        }
        node.add(segments.dropFirst(), method: method, handler: handler)
    }

    func find(_ segments: ArraySlice<Substring>, method: String, into parameters: inout [String: String]) -> Handler? {
        guard let head = segments.first else { return handlers[method] }
        if let literal = literals[String(head)],
           let handler = literal.find(segments.dropFirst(), method: method, into: &parameters) {
            return handler
        }
        guard let (name, node) = wildcard else { return nil }
        parameters[name] = String(head)
        return node.find(segments.dropFirst(), method: method, into: &parameters)
    }
}

final class Router {
    private let root = RouteNode()
    private var middleware: [Middleware] = []
    private lazy var pipeline: Handler = middleware.reversed().reduce({ [unowned self] in self.dispatch($0) }) { $1($0) }

    func use(_ layer: @escaping Middleware) { middleware.append(layer) }

    func on(_ method: String, _ path: String, _ handler: @escaping Handler) {
        root.add(path.split(separator: "/")[...], method: method, handler: handler)
    }

    private func dispatch(_ context: RequestContext) -> Response {
        let segments = context.path.split(separator: "/")[...]
        guard let handler = root.find(segments, method: context.method, into: &context.parameters) else {
            return Response(status: 404, body: [])
        }
        return handler(context)
    }

    func handle(_ context: RequestContext) -> Response { pipeline(context) }
}

final class AccessLog {
    private var lines: [String] = []
    private(set) var statuses: [Int: Int] = [:]
    func record(_ context: RequestContext, _ response: Response) {
        statuses[response.status, default: 0] += 1
        lines.append("\(context.method) \(context.path) \(response.status)")
        if lines.count > 50 { lines.removeFirst() }
    }
    var tail: String { lines.suffix(2).joined(separator: "; ") }
}

final class ResponseCache {
    private var entries: [String: Response] = [:]
    private var order: [String] = []
    private(set) var hits = 0

    func lookup(_ path: String) -> Response? {
        guard let response = entries[path] else { return nil }
        hits += 1
        return response
    }

    func store(_ path: String, _ response: Response) {
        if entries.updateValue(response, forKey: path) == nil { order.append(path) }
        if order.count > 32 { entries[order.removeFirst()] = nil }
    }
}

struct Upstream {
    func call(_ context: RequestContext) -> Response {
        context.attempts += 1
        let outage = context.id % 20 == 7
        let hiccup = context.id % 10 == 3 && context.attempts == 1
        if outage || hiccup { return Response(status: 502, body: []) }
        let digest = context.body.reduce(UInt8(0)) { ($0 &* 3) &+ $1 }
        return Response(status: 200, body: [digest, UInt8(truncatingIfNeeded: context.attempts)])
    }
}

let log = AccessLog()
let cache = ResponseCache()
let upstream = Upstream()
let router = Router()
var replays = 0
var rejected = 0

let logging: Middleware = { next in
    { context in
        let response = next(context)
        log.record(context, response)
        return response
    }
}

let authentication: Middleware = { next in
    { context in
        guard context.id % 40 != 1 else {
            rejected += 1
            return Response(status: 401, body: [])
        }
        context.principal = "user-\(context.id % 6)"
        return next(context)
    }
}

let caching: Middleware = { next in
    { context in
        guard context.method == "GET" else { return next(context) }
        if let cached = cache.lookup(context.path) { return cached }
        let response = next(context)
        if response.status == 200 { cache.store(context.path, response) }
        return response
    }
}

let retrying: Middleware = { next in
    { context in
        var response = next(context)
        guard response.status >= 500 else { return response }
        context.replay = {
            replays += 1
            return next(context)
        }
        var budget = 2
        while response.status >= 500, budget > 0, let replay = context.replay {
            budget -= 1
            response = replay()
        }
        if response.status < 500 {
            context.replay = nil
            return response
        }
        return Response(status: 503, body: [], headers: ["Retry-After": "5"])
    }
}

router.use(logging)
router.use(authentication)
router.use(caching)
router.use(retrying)

router.on("GET", "/health") { _ in Response(status: 200, body: [1]) }
router.on("GET", "/users/:user") { context in
    Response(status: 200, body: Array((context.parameters["user"] ?? "").utf8))
}
router.on("POST", "/users/:user/orders") { upstream.call($0) }
router.on("POST", "/users/:user/orders/:order/refund") { context in
    var response = upstream.call(context)
    response.body += Array((context.parameters["order"] ?? "").utf8)
    return response
}

var checksum = 0
var requestID = 0
for _ in 0..<50 {
    for _ in 0..<16 {
        let path: String
        let method: String
        switch requestID % 5 {
        case 0: (method, path) = ("GET", "/health")
        case 1: (method, path) = ("GET", "/users/u\(requestID % 45)")
        case 2: (method, path) = ("POST", "/users/u\(requestID % 9)/orders")
        case 3: (method, path) = ("POST", "/users/u\(requestID % 9)/orders/\(requestID)/refund")
        default: (method, path) = ("GET", "/missing/\(requestID)")
        }
        let context = RequestContext(id: requestID, method: method, path: path)
        let response = router.handle(context)
        checksum = (checksum &* 17 &+ response.status &+ response.body.reduce(0) { $0 + Int($1) }) % 1_000_003
        requestID += 1
    }
    usleep(12_000)
}
let statuses = log.statuses.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
print("requests=\(requestID) \(statuses) replays=\(replays) rejected=\(rejected) cached=\(cache.hits) sum=\(checksum)")
print(log.tail)
