import Foundation

enum Stroke: Sendable {
    case line(Int, Int)
    case erase(Int)
}

struct Visitor: Sendable {
    let board: Int
    let strokes: AsyncThrowingStream<Stroke, Error>
}

struct Dropped: Error {}

final class BoardConnection: @unchecked Sendable {
    let board: Int
    private let lock = NSLock()
    private var ink: [Int] = []

    init(board: Int) {
        self.board = board
    }

    func handle(_ strokes: AsyncThrowingStream<Stroke, Error>, house: House) async {
        await house.arrived(self)
        var reason = "left"
        do {
            for try await stroke in strokes {
                apply(stroke)
                await house.drawn()
            }
        } catch {
            reason = "dropped"
        }
        await house.departed(self, reason: reason)
    }

    private func apply(_ stroke: Stroke) {
        lock.withLock {
            switch stroke {
            case .line(let from, let to): ink.append(contentsOf: [from, to])
            case .erase(let point): ink.removeAll { $0 == point }
            }
        }
    }

    var inkCount: Int { lock.withLock { ink.count } }
}

actor House {
    static let shared = House()

    private var pens: [Int: AsyncThrowingStream<Stroke, Error>.Continuation] = [:]
    private var connections: [ObjectIdentifier: BoardConnection] = [:]
    private var departures: [String: Int] = [:]
    private(set) var strokes = 0

    func ticket(for board: Int) -> Visitor {
        let (stream, pen) = AsyncThrowingStream.makeStream(of: Stroke.self)
        pens[board] = pen
        return Visitor(board: board, strokes: stream)
    }

    func draw(_ stroke: Stroke, on board: Int) { pens[board]?.yield(stroke) }
    func leave(_ board: Int) { pens.removeValue(forKey: board)?.finish() }
    func drop(_ board: Int) { pens.removeValue(forKey: board)?.finish(throwing: Dropped()) }
    func arrived(_ connection: BoardConnection) { connections[ObjectIdentifier(connection)] = connection }
    func drawn() { strokes += 1 }

    func departed(_ connection: BoardConnection, reason: String) {
        connections[ObjectIdentifier(connection)] = nil
        departures[reason, default: 0] += 1
    }

    var open: Int { connections.count }
    var ink: Int { connections.values.reduce(0) { $0 + $1.inkCount } }
    var log: [String: Int] { departures }
}

struct Reception: Sendable {
    let visitors: AsyncStream<Visitor>

    func serve() async {
        await withDiscardingTaskGroup { group in
            for await visitor in visitors {
                let connection = BoardConnection(board: visitor.board)
                group.addTask { await connection.handle(visitor.strokes, house: .shared) }
            }
        }
    }
}

@main
struct Whiteboard {
    static let door = AsyncStream.makeStream(of: Visitor.self)

    static func main() async {
        let house = House.shared
        Task.detached { await Reception(visitors: door.stream).serve() }
        for board in 0..<72 {
            door.continuation.yield(await house.ticket(for: board))
        }
        for board in 0..<72 {
            await house.draw(.line(board, board + 1), on: board)
            await house.draw(.line(board, 5), on: board)
            await house.draw(.erase(board + 1), on: board)
        }
        while await house.strokes < 72 * 3 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        for board in stride(from: 0, to: 72, by: 6) {
            await house.leave(board)
            await house.drop(board + 4)
        }
        while await house.open > 48 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        try? await Task.sleep(for: .milliseconds(18))
        let log = await house.log
        print("left \(log["left", default: 0]), dropped \(log["dropped", default: 0])")
        print("open \(await house.open), ink \(await house.ink)")
    }
}
