import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers

struct Ticket: ResponseCodable {
    let id: Int
    let subject: String
    let owner: String
}

final class TicketRepository: Sendable {
    private let tickets: [Int: Ticket]

    init(count: Int) {
        tickets = Dictionary(uniqueKeysWithValues: (0..<count).map {
            ($0, Ticket(id: $0, subject: "Printer \($0 % 17) does not answer", owner: "desk-\($0 % 5)"))
        })
    }

    func find(_ id: Int) -> Ticket? { tickets[id] }
}

final class RequestTrace: @unchecked Sendable {
    let id: Int
    let route: String
    let started = ContinuousClock.now
    var marks: [String] = []

    init(id: Int, route: String) {
        self.id = id
        self.route = route
    }
}

/// Requests that are being answered right now; shown on the operations page.
final class TraceBook: Sendable {
    static let shared = TraceBook()

    private struct State {
        var nextID = 0
        var active: [Int: RequestTrace] = [:]
        var finished = 0
    }
    private let state = NIOLockedValueBox(State())

    func begin(route: String) -> RequestTrace {
        state.withLockedValue { state in
            state.nextID += 1
            let trace = RequestTrace(id: state.nextID, route: route)
            state.active[trace.id] = trace
            return trace
        }
    }

    func end(_ trace: RequestTrace) {
        state.withLockedValue { state in
            state.active[trace.id] = nil
            state.finished += 1
        }
    }

    var finished: Int { state.withLockedValue { $0.finished } }
}

struct TraceMiddleware<Context: RequestContext>: RouterMiddleware {
    let book: TraceBook

    func handle(_ request: Request, context: Context, next: (Request, Context) async throws -> Response) async throws -> Response {
        let trace = book.begin(route: request.uri.path)
        trace.marks.append("received")
        let response = try await next(request, context)
        trace.marks.append("answered \(response.status.code)")
        book.end(trace)
        return response
    }
}

/// The agents' desktop clients: one keep-alive connection each.
struct AgentConnection {
    let fd: Int32

    init(port: Int) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    func get(_ path: String) {
        let head = "GET \(path) HTTP/1.1\r\nHost: desk\r\n\r\n"
        _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    func readResponse() {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let n = recv(fd, &chunk, chunk.count, 0)
            if n <= 0 { return }
            received += chunk[0..<n]
            let text = String(decoding: received, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let head = text[..<end.lowerBound].lowercased()
            guard let length = head.range(of: "content-length: ") else { return }
            let expected = Int(head[length.upperBound...].prefix { $0.isNumber }) ?? 0
            if text[end.upperBound...].utf8.count >= expected { return }
        }
    }

    func hangUp() { close(fd) }
}

func agentsAtWork(port: Int) {
    var agents = (0..<80).map { _ in AgentConnection(port: port) }
    for round in 0..<12 {
        for (index, agent) in agents.enumerated() {
            let id = round % 4 == 3 ? 900_000 + index : (round * 80 + index) % 500
            agent.get("/tickets/\(id)")
            agent.readResponse()
        }
        if round == 5 {
            for index in 0..<20 {
                agents[index].hangUp()
                agents[index] = AgentConnection(port: port)
            }
        }
    }
    for agent in agents.prefix(30) { agent.get("/export") }
    Thread.sleep(forTimeInterval: 0.2)
    kill(getpid(), SIGTERM)
    Thread.sleep(forTimeInterval: 10)
    agents.forEach { $0.hangUp() }
}

@main
struct HelpDesk {
    static func main() async throws {
        let repository = TicketRepository(count: 500)
        let book = TraceBook.shared
        let router = Router()
        router.add(middleware: TraceMiddleware(book: book))
        router.get("tickets/:id") { _, context -> Ticket in
            let id = try context.parameters.require("id", as: Int.self)
            guard let ticket = repository.find(id) else { throw HTTPError(.notFound, message: "no ticket \(id)") }
            return ticket
        }
        router.get("export") { _, _ -> String in
            try await Task.sleep(for: .milliseconds(700))
            return (0..<20).compactMap { repository.find($0)?.subject }.joined(separator: "\n")
        }
        router.get("ops") { _, _ in "\(book.finished)" }
        var logger = Logger(label: "helpdesk")
        logger.logLevel = .error
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                print("ready")
                let port = channel.localAddress!.port!
                Thread.detachNewThread { agentsAtWork(port: port) }
            },
            logger: logger
        )
        try await app.runService()
        print("answered \(book.finished)")
    }
}
