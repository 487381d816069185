import Foundation

// A small HTTP application: routes are kept in a radix-like tree, middleware
// wraps the handlers, and a load generator sends requests in process.

struct Request {
    let method: String
    let path: String
    var headers: [String: String] = [:]
    var body = ""
}

struct Response {
    var status: Int
    var headers: [String: String] = [:]
    var body: String
    static func text(_ body: String, status: Int = 200) -> Response { Response(status: status, headers: ["Content-Type": "text/plain"], body: body) }
}

final class RequestContext {
    let request: Request
    let parameters: [String: String]
    var user: String?
    private(set) var trace: [String] = []
    private var cleanups: [() -> Void] = []

    init(request: Request, parameters: [String: String]) {
        self.request = request
        self.parameters = parameters
    }

    func note(_ text: String) { trace.append(text) }
    func onFinish(_ action: @escaping () -> Void) { cleanups.append(action) }
    func finish() {
        let actions = cleanups
        cleanups.removeAll()
        actions.reversed().forEach { $0() }
    }
}

typealias Handler = (RequestContext) throws -> Response
typealias Middleware = (@escaping Handler) -> Handler

final class RouteNode {
    var literal: [String: RouteNode] = [:]
    var parameter: (name: String, node: RouteNode)?
    var handlers: [String: Handler] = [:]
}

final class Router {
    private let root = RouteNode()
    private var middleware: [Middleware] = []
    private(set) var served = 0

    func use(_ layer: @escaping Middleware) { middleware.append(layer) }

    func on(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
        var node = root
        for part in pattern.split(separator: "/") {
            if part.hasPrefix(":") {
                if node.parameter == nil { node.parameter = (String(part.dropFirst()), RouteNode()) }
                node = node.parameter!.node
            } else {
                let key = String(part)
                if node.literal[key] == nil { node.literal[key] = RouteNode() }
                node = node.literal[key]!
            }
        }
        node.handlers[method] = middleware.reversed().reduce(handler) { inner, layer in layer(inner) }
    }

    func handle(_ request: Request) -> Response {
        served += 1
        var node = root
        var parameters: [String: String] = [:]
        for part in request.path.split(separator: "/") {
            if let next = node.literal[String(part)] {
                node = next
            } else if let (name, next) = node.parameter {
                parameters[name] = String(part)
                node = next
            } else {
                return .text("not found", status: 404)
            }
        }
        guard let handler = node.handlers[request.method] else { return .text("method not allowed", status: 405) }
        let context = RequestContext(request: request, parameters: parameters)
        defer { context.finish() }
        do {
            return try handler(context)
        } catch let error as HTTPError {
            return .text(error.message, status: error.status)
        } catch {
            return .text("internal error", status: 500)
        }
    }
}

struct HTTPError: Error { let status: Int, message: String }

final class Note {
    let id: Int
    let owner: String
    var text: String
    init(id: Int, owner: String, text: String) {
        self.id = id
        self.owner = owner
        self.text = text
    }
}

final class NoteService {
    private var notes: [Int: Note] = [:]
    private var nextID = 1
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    func create(owner: String, text: String) throws -> Note {
        guard notes.count < capacity else { throw HTTPError(status: 507, message: "storage full") }
        let note = Note(id: nextID, owner: owner, text: text)
        notes[nextID] = note
        nextID += 1
        return note
    }

    func find(_ id: String?) throws -> Note {
        guard let id, let number = Int(id), let note = notes[number] else { throw HTTPError(status: 404, message: "no such note") }
        return note
    }

    func delete(_ note: Note) { notes[note.id] = nil }
    func list(owner: String) -> [Note] { notes.values.filter { $0.owner == owner }.sorted { $0.id < $1.id } }
    var count: Int { notes.count }
}

final class Metrics {
    private(set) var statuses: [Int: Int] = [:]
    private(set) var active = 0
    private(set) var peak = 0
    func begin() { active += 1; peak = max(peak, active) }
    func end() { active -= 1 }
    func record(_ status: Int) { statuses[status, default: 0] += 1 }
}

func makeApplication(notes: NoteService, metrics: Metrics) -> Router {
    let router = Router()
    router.use { next in
        { context in
            metrics.begin()
            context.onFinish { metrics.end() }
            return try next(context)
        }
    }
    router.use { next in
        { context in
            guard let token = context.request.headers["Authorization"], token.hasPrefix("user-") else {
                throw HTTPError(status: 401, message: "login required")
            }
            context.user = String(token.dropFirst(5))
            context.note("user \(context.user!)")
            return try next(context)
        }
    }
    router.on("POST", "/notes") { context in
        let note = try notes.create(owner: context.user!, text: context.request.body)
        return .text("\(note.id)", status: 201)
    }
    router.on("GET", "/notes") { context in
        .text(notes.list(owner: context.user!).map { "\($0.id):\($0.text.prefix(8))" }.joined(separator: ","))
    }
    router.on("GET", "/notes/:id") { context in .text(try notes.find(context.parameters["id"]).text) }
    router.on("PUT", "/notes/:id") { context in
        let note = try notes.find(context.parameters["id"])
        guard note.owner == context.user else { throw HTTPError(status: 403, message: "not yours") }
        note.text = context.request.body
        return .text("ok")
    }
    router.on("DELETE", "/notes/:id") { context in
        notes.delete(try notes.find(context.parameters["id"]))
        return Response(status: 204, body: "")
    }
    return router
}

let notes = NoteService(capacity: 300)
let metrics = Metrics()
let application = makeApplication(notes: notes, metrics: metrics)
var live: [Int] = []
var bytes = 0
var seed: UInt64 = 42
func random(_ bound: Int) -> Int {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1
    return Int((seed >> 33) % UInt64(bound))
}

for tick in 0..<215_000 {
    var request: Request
    switch random(10) {
    case 0, 1: request = Request(method: "POST", path: "/notes", body: "note written at \(tick)")
    case 2: request = Request(method: "GET", path: "/notes")
    case 3 where !live.isEmpty: request = Request(method: "DELETE", path: "/notes/\(live.remove(at: random(live.count)))")
    case 4 where !live.isEmpty: request = Request(method: "PUT", path: "/notes/\(live[random(live.count)])", body: "edited \(tick)")
    case 5: request = Request(method: "GET", path: "/missing/\(tick)")
    default: request = Request(method: "GET", path: "/notes/\(live.isEmpty ? 0 : live[random(live.count)])")
    }
    if random(40) != 0 { request.headers["Authorization"] = "user-u\(random(25))" }
    let response = application.handle(request)
    if response.status == 201, let id = Int(response.body) { live.append(id) }
    bytes += response.body.utf8.count
    metrics.record(response.status)
}
let summary = metrics.statuses.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
print("served \(application.served), \(summary), stored \(notes.count), \(bytes) bytes, peak \(metrics.peak)")
