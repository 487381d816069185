import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers

final class CartSession: @unchecked Sendable {
    let token: String
    var items: [String] = []
    var lastSeen = ContinuousClock.now

    init(token: String) { self.token = token }
}

/// Anonymous shopping carts. A cart lives for `lifetime` after the last visit.
actor SessionStore {
    private var sessions: [String: CartSession] = [:]
    private var counter = 0
    private let lifetime: Duration

    init(lifetime: Duration) { self.lifetime = lifetime }

    func open() -> CartSession {
        counter += 1
        let session = CartSession(token: "s\(counter)-\(UInt32.random(in: .min ... .max))")
        sessions[session.token] = session
        return session
    }

    func lookup(_ token: String) -> CartSession? {
        guard let session = sessions[token] else { return nil }
        guard ContinuousClock.now - session.lastSeen < lifetime else {
            sessions[token] = nil
            return nil
        }
        session.lastSeen = .now
        return session
    }

    func add(_ item: String, to token: String) -> Int? {
        guard let session = lookup(token) else { return nil }
        session.items.append(item)
        return session.items.count
    }

    var opened: Int { counter }
}

struct Shopper {
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

    /// Sends a POST and returns the body, which ends with a newline.
    @discardableResult
    func post(_ path: String, token: String? = nil) -> String {
        let cookie = token.map { "X-Cart: \($0)\r\n" } ?? ""
        let head = "POST \(path) HTTP/1.1\r\nHost: shop\r\n\(cookie)Content-Length: 0\r\n\r\n"
        _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        var text = ""
        var chunk = [UInt8](repeating: 0, count: 2048)
        while true {
            let n = recv(fd, &chunk, chunk.count, 0)
            if n <= 0 { return "" }
            text += String(decoding: chunk[0..<n], as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n"), text.hasSuffix("\n"), text.endIndex > end.upperBound {
                return text[end.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }
    }

    func leave() { close(fd) }
}

func crowd(port: Int, done: @escaping @Sendable () -> Void) {
    // The passers-by: they look at one thing and never come back.
    for _ in 0..<20 {
        let shopper = Shopper(port: port)
        for visit in 0..<70 {
            let token = shopper.post("/open")
            shopper.post("/add/article-\(visit)", token: token)
        }
        shopper.leave()
    }
    // The regulars keep their cart warm.
    let regulars = (0..<16).map { _ in Shopper(port: port) }
    let tokens = regulars.map { $0.post("/open") }
    for day in 0..<8 {
        Thread.sleep(forTimeInterval: 0.1)
        for (regular, token) in zip(regulars, tokens) { regular.post("/add/bread-\(day)", token: token) }
    }
    done()
}

@main
struct Basket {
    static let store = SessionStore(lifetime: .milliseconds(300))

    static func main() async throws {
        let router = Router()
        let cartField = HTTPField.Name("X-Cart")!
        router.post("open") { _, _ -> String in
            await store.open().token + "\n"
        }
        router.post("add/:item") { request, context -> String in
            let item = try context.parameters.require("item")
            guard let token = request.headers[cartField], let count = await store.add(item, to: token) else {
                return "expired\n"
            }
            return "\(count)\n"
        }
        var logger = Logger(label: "basket")
        logger.logLevel = .error
        let (finished, finish) = AsyncStream<Void>.makeStream()
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress!.port!
                Thread.detachNewThread { crowd(port: port) { finish.finish() } }
            },
            logger: logger
        )
        let server = Task { try await app.run() }
        for await _ in finished {}
        print("opened \(await store.opened)")
        server.cancel()
        _ = try? await server.value
    }
}
