import Synchronization

enum Frame: Sendable {
    case hello(token: Int)
    case data([UInt8])
}

final class Wire: Sendable {
    private let taps = Mutex<[Int: AsyncStream<Frame>.Continuation]>([:])

    func plug(_ id: Int) -> AsyncStream<Frame> {
        let (stream, tap) = AsyncStream.makeStream(of: Frame.self)
        taps.withLock { $0[id] = tap }
        return stream
    }

    func send(_ frame: Frame, to id: Int) {
        _ = taps.withLock { $0[id]?.yield(frame) }
    }

    func close(_ id: Int) {
        taps.withLock { $0.removeValue(forKey: id) }?.finish()
    }
}

final class GatewaySession: Sendable {
    private struct State {
        var token: Int?
        var bytes = 0
    }

    let id: Int
    private let state = Mutex(State())

    init(id: Int) { self.id = id }

    func read(_ frames: AsyncStream<Frame>) async {
        for await frame in frames {
            state.withLock {
                switch frame {
                case .hello(let token): $0.token = token
                case .data(let payload): $0.bytes += payload.count
                }
            }
        }
    }

    var token: Int? { state.withLock { $0.token } }
    var bytes: Int { state.withLock { $0.bytes } }
}

final class Gateway {
    let wire = Wire()
    private var sessions: [Int: GatewaySession] = [:]
    private var readers: [Int: Task<Void, Never>] = [:]
    private(set) var accepted = 0
    private(set) var rejected = 0
    private(set) var traffic = 0

    func accept(_ id: Int) {
        let session = GatewaySession(id: id)
        let frames = wire.plug(id)
        sessions[id] = session
        readers[id] = Task.detached {
            await session.read(frames)
        }
    }

    func authenticate(_ id: Int) async {
        guard let session = sessions[id] else { return }
        var token = session.token
        while token == nil {
            await Task.yield()
            token = session.token
        }
        guard token! % 5 > 1 else {
            sessions[id] = nil
            rejected += 1
            return
        }
        accepted += 1
    }

    func disconnect(_ id: Int) async {
        guard let session = sessions.removeValue(forKey: id) else { return }
        wire.close(id)
        await readers.removeValue(forKey: id)?.value
        traffic += session.bytes
    }
}

@main
enum GatewayApp {
    static let gateway = Gateway()

    static func serve(_ ids: Range<Int>, token: (Int) -> Int) async throws {
        for id in ids { gateway.accept(id) }
        for id in ids { gateway.wire.send(.hello(token: token(id)), to: id) }
        for id in ids { await gateway.authenticate(id) }
        for id in ids {
            gateway.wire.send(.data(Array(repeating: UInt8(id % 251), count: 16 + id % 9)), to: id)
        }
        for id in ids { await gateway.disconnect(id) }
        try await Task.sleep(for: .milliseconds(10))
    }

    static func main() async throws {
        for wave in 0..<20 {
            try await serve(wave * 25..<wave * 25 + 25) { $0 * 3 }
        }
        for wave in 20..<50 {
            try await serve(wave * 25..<wave * 25 + 10) { _ in 4 }
        }
        print("accepted \(gateway.accepted), rejected \(gateway.rejected), \(gateway.traffic) bytes")
    }
}
