import Foundation

struct Edit: Sendable {
    let line: Int
    let column: Int
}

struct Socket: Sendable {
    let id: Int
    let edits: AsyncStream<Edit>
}

actor Registry {
    private var writers: [Int: AsyncStream<Edit>.Continuation] = [:]
    private var connections: [Int: CursorConnection] = [:]
    private(set) var evicted = 0
    private(set) var finished = 0
    private(set) var applied = 0

    func openSocket(_ id: Int) -> Socket {
        let (edits, writer) = AsyncStream.makeStream(of: Edit.self)
        writers[id] = writer
        return Socket(id: id, edits: edits)
    }

    func add(_ connection: CursorConnection) {
        connections[connection.socket.id] = connection
    }

    func write(_ edit: Edit, to id: Int) {
        writers[id]?.yield(edit)
    }

    func bye(_ id: Int) {
        writers.removeValue(forKey: id)?.finish()
    }

    func closed(_ id: Int) {
        connections[id] = nil
        finished += 1
    }

    func evict(idleSince limit: Int) async {
        for (id, connection) in connections where await connection.edits <= limit {
            connections.removeValue(forKey: id)
            writers.removeValue(forKey: id)
            evicted += 1
        }
    }

    func edited() { applied += 1 }

    var online: Int { connections.count }
}

actor CursorConnection {
    nonisolated let socket: Socket
    private var position = Edit(line: 0, column: 0)
    private var trail: [Edit] = []

    init(socket: Socket) {
        self.socket = socket
        trail.reserveCapacity(32)
    }

    var edits: Int { trail.count }

    func serve(registry: Registry) async {
        for await edit in socket.edits {
            trail.append(position)
            position = edit
            await registry.edited()
        }
        await registry.closed(socket.id)
    }
}

struct CollabServer: Sendable {
    let registry: Registry
    let incoming: AsyncStream<Socket>

    func run() async {
        await withDiscardingTaskGroup { group in
            for await socket in incoming {
                let connection = CursorConnection(socket: socket)
                await registry.add(connection)
                group.addTask { await connection.serve(registry: registry) }
            }
        }
    }
}

@main
struct Collab {
    static func main() async {
        let registry = Registry()
        let (incoming, listener) = AsyncStream.makeStream(of: Socket.self)
        let server = CollabServer(registry: registry, incoming: incoming)
        Task { await server.run() }

        for id in 0..<52 {
            listener.yield(await registry.openSocket(id))
        }
        while await registry.online < 52 {
            try? await Task.sleep(for: .milliseconds(1))
        }

        var expected = 0
        for id in 0..<52 {
            let strokes = id % 13 < 3 ? 5 : 1
            for stroke in 0..<strokes {
                await registry.write(Edit(line: id, column: stroke * 4), to: id)
            }
            expected += strokes
        }
        while await registry.applied < expected {
            try? await Task.sleep(for: .milliseconds(1))
        }

        await registry.evict(idleSince: 2)
        for id in 0..<52 where id % 13 < 3 {
            await registry.bye(id)
        }
        while await registry.finished < 12 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        try? await Task.sleep(for: .milliseconds(25))
        print("edits \(await registry.applied)")
        print("evicted \(await registry.evicted), said bye \(await registry.finished), online \(await registry.online)")
    }
}
