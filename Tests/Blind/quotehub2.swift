import Foundation

struct Tick: Sendable {
    let symbol: String
    let cents: Int
    let sequence: Int
}

actor TickHub {
    private var sinks: [Int: AsyncStream<Tick>.Continuation] = [:]
    private var nextID = 0
    private(set) var published = 0

    func ticks() -> AsyncStream<Tick> {
        let id = nextID
        nextID += 1
        let (stream, continuation) = AsyncStream.makeStream(of: Tick.self, bufferingPolicy: .bufferingNewest(32))
        continuation.onTermination = { _ in
            Task { await self.drop(id) }
        }
        sinks[id] = continuation
        return stream
    }

    private func drop(_ id: Int) {
        sinks[id] = nil
    }

    func publish(_ tick: Tick) {
        published += 1
        for sink in sinks.values {
            sink.yield(tick)
        }
    }
}

final class PriceBoard: @unchecked Sendable {
    let client: String
    private let symbols: Set<String>
    private let lock = NSLock()
    private var candles: [String: [Int]] = [:]

    init(client: String, symbols: Set<String>) {
        self.client = client
        self.symbols = symbols
    }

    func follow(_ hub: TickHub) async {
        let stream = await hub.ticks()
        Task {
            for await tick in stream where symbols.contains(tick.symbol) {
                record(tick)
            }
        }
    }

    private func record(_ tick: Tick) {
        lock.withLock {
            candles[tick.symbol, default: []].append(tick.cents)
            if candles[tick.symbol]!.count > 64 { candles[tick.symbol]!.removeFirst(32) }
        }
    }

    var spread: Int {
        lock.withLock {
            candles.values.map { ($0.max() ?? 0) - ($0.min() ?? 0) }.max() ?? 0
        }
    }
}

@MainActor
final class ClientSessions {
    private let hub: TickHub
    private var boards: [String: PriceBoard] = [:]
    private(set) var widest = 0

    init(hub: TickHub) {
        self.hub = hub
    }

    func open(_ client: String, symbols: Set<String>) async {
        let board = PriceBoard(client: client, symbols: symbols)
        boards[client] = board
        await board.follow(hub)
    }

    func drop(_ client: String) {
        guard let board = boards.removeValue(forKey: client) else { return }
        widest = max(widest, board.spread)
    }

    var connected: Int { boards.count }
}

@main
struct TickerService {
    static func main() async throws {
        let hub = TickHub()
        let sessions = ClientSessions(hub: hub)
        let universe = ["ABB", "BMW", "CFR", "DTE", "ENI", "FRE"]
        var sequence = 0

        for round in 0..<6 {
            for n in 0..<6 {
                await sessions.open("web-\(round)-\(n)", symbols: [universe[n], universe[(n + round) % 6]])
            }
            for step in 0..<120 {
                sequence += 1
                await hub.publish(Tick(symbol: universe[step % 6], cents: 10_000 + (step * 37) % 900, sequence: sequence))
                if step % 30 == 0 { try await Task.sleep(for: .milliseconds(20)) }
            }
            try await Task.sleep(for: .milliseconds(40))
            for n in 0..<6 {
                sessions.drop("web-\(round)-\(n)")
            }
        }
        print("published \(await hub.published), connected \(sessions.connected), spread seen \(sessions.widest > 0)")
    }
}
