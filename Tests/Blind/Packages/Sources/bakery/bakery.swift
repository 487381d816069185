import FlyingFox
import FlyingSocks
import Foundation
import Glibc

enum Stage: String, Sendable {
    case taken, kneading, baking, ready
}

/// A customer's order and the news about it.
final class Order: @unchecked Sendable {
    let number: Int
    let bread: String
    let loaves: Int
    let stages: AsyncStream<Stage>
    let announce: AsyncStream<Stage>.Continuation
    private let lock = NSLock()
    private var history: [Stage] = []

    init(number: Int, bread: String, loaves: Int) {
        self.number = number
        self.bread = bread
        self.loaves = loaves
        (stages, announce) = AsyncStream.makeStream(of: Stage.self)
    }

    func follow() {
        Task {
            for await stage in self.stages {
                self.lock.withLock { self.history.append(stage) }
            }
        }
    }

    var slip: String {
        lock.withLock { "#\(number) \(loaves) x \(bread): " + history.map(\.rawValue).joined(separator: ", ") }
    }
}

actor Counter {
    private var open: [Int: Order] = [:]
    private var last = 0
    private(set) var handedOver = 0

    func take(bread: String, loaves: Int) -> Order {
        last += 1
        let order = Order(number: last, bread: bread, loaves: loaves)
        order.follow()
        order.announce.yield(.taken)
        open[order.number] = order
        return order
    }

    func bake(_ order: Order) async {
        order.announce.yield(.kneading)
        await Task.yield()
        order.announce.yield(.baking)
    }

    func handOver(_ number: Int) -> Order? {
        guard let order = open.removeValue(forKey: number) else { return nil }
        order.announce.yield(.ready)
        handedOver += 1
        return order
    }
}

/// Sends one request on its own connection and returns the whole answer.
func ask(_ port: UInt16, _ method: String, _ path: String) -> String {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(fd) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard connected == 0 else { return "" }
    let text = "\(method) \(path) HTTP/1.1\r\nHost: bakery\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    _ = text.withCString { write(fd, $0, strlen($0)) }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1024)
    while true {
        let count = read(fd, &chunk, chunk.count)
        if count <= 0 { break }
        answer += chunk.prefix(count)
    }
    return String(decoding: answer, as: UTF8.self)
}

@main
struct Bakery {
    static func main() async throws {
        let counter = Counter()
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
        await server.appendRoute("POST /orders") { request in
            let loaves = Int(request.query["loaves"] ?? "1") ?? 1
            let order = await counter.take(bread: request.query["bread"] ?? "rye", loaves: loaves)
            await counter.bake(order)
            return HTTPResponse(statusCode: .created, body: Data("\(order.number)".utf8))
        }
        await server.appendRoute("GET /pickup") { request in
            guard let number = Int(request.query["number"] ?? ""), let order = await counter.handOver(number) else {
                return HTTPResponse(statusCode: .notFound)
            }
            return HTTPResponse(statusCode: .ok, body: Data(order.slip.utf8))
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else { return }

        let breads = ["rye", "spelt", "sourdough", "baguette"]
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                for customer in 1...120 {
                    _ = ask(port, "POST", "/orders?bread=\(breads[customer % 4])&loaves=\(customer % 5 + 1)")
                    _ = ask(port, "GET", "/pickup?number=\(customer)")
                }
                done.resume()
            }
        }
        try await Task.sleep(for: .milliseconds(400))
        print("handed over \(await counter.handedOver) orders")
        await server.stop(timeout: 1)
        _ = await running.result
    }
}
