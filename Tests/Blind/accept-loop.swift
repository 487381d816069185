import Foundation
import Synchronization

struct Connection: Sendable {
    let fd: Int
    let peer: String
}

final class Listener: Sendable {
    let connections: AsyncStream<Connection>
    private let accept: AsyncStream<Connection>.Continuation

    init() {
        (connections, accept) = AsyncStream.makeStream(of: Connection.self)
    }

    func incoming(_ c: Connection) { accept.yield(c) }
    func close() { accept.finish() }
}

final class Stats: Sendable {
    static let shared = Stats()
    let handled = Atomic<Int>(0)
    let bytes = Atomic<Int>(0)
}

final class EchoServer: Sendable {
    let listener: Listener
    init(listener: Listener) { self.listener = listener }

    func serve() async {
        await withTaskGroup(of: Int.self) { group in
            for await connection in listener.connections {
                group.addTask {
                    await self.handle(connection)
                }
            }
        }
    }

    private func handle(_ connection: Connection) async -> Int {
        let request = "GET /echo/\(connection.fd) HTTP/1.1\r\nHost: \(connection.peer)\r\n\r\n"
        await Task.yield()
        let n = request.utf8.count
        Stats.shared.bytes.add(n, ordering: .relaxed)
        Stats.shared.handled.add(1, ordering: .relaxed)
        return n
    }
}

@main
struct EchoMain {
    static let listener = Listener()

    static func main() async throws {
        let server = EchoServer(listener: listener)
        let running = Task { await server.serve() }
        var fd = 3
        for round in 0..<20 {
            for n in 0..<100 {
                fd += 1
                listener.incoming(Connection(fd: fd, peer: "10.0.\(round).\(n)"))
            }
            try await Task.sleep(for: .milliseconds(15))
        }
        while Stats.shared.handled.load(ordering: .relaxed) < 2000 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("echo handled", Stats.shared.handled.load(ordering: .relaxed), running.isCancelled)
    }
}
