import Foundation

final class Request: Sendable {
    let id: Int
    let text: String
    init(id: Int) { self.id = id; text = "hello number \(id) from the client" }
}

final class Reply: Sendable {
    let id: Int
    let text: String
    init(id: Int, text: String) { self.id = id; self.text = text }
}

actor Listener {
    private var next = 0
    private let total: Int
    init(total: Int) { self.total = total }
    func accept() async -> Request {
        while next >= total { try? await Task.sleep(nanoseconds: 50_000_000) }
        next += 1
        if next % 20 == 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
        return Request(id: next)
    }
}

actor Statistics {
    private(set) var served = 0
    private(set) var bytes = 0
    func note(_ r: Reply) {
        served += 1
        bytes += r.text.utf8.count
    }
}

final class EchoServer: Sendable {
    let listener: Listener
    let statistics = Statistics()
    init(listener: Listener) { self.listener = listener }

    func handle(_ r: Request) async -> Reply {
        await Task.yield()
        let reply = Reply(id: r.id, text: r.text.uppercased())
        await statistics.note(reply)
        return reply
    }

    func acceptLoop() async {
        await withTaskGroup(of: Reply.self) { group in
            while !Task.isCancelled {
                let request = await listener.accept()
                group.addTask { await self.handle(request) }
            }
        }
    }
}

@main
enum Main {
    static let server = EchoServer(listener: Listener(total: 1200))
    static func main() async {
        let loop = Task { await server.acceptLoop() }
        for _ in 0..<300 {
            try? await Task.sleep(nanoseconds: 5_000_000)
            if await server.statistics.served >= 1200 { break }
        }
        try? await Task.sleep(nanoseconds: 20_000_000)
        let n = await server.statistics.served
        print("served \(n) bytes \(await server.statistics.bytes) cancelled \(loop.isCancelled)")
        exit(0)
    }
}
