import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

final class Instrument: Sendable {
    let symbol: String
    let tick: Double
    init(symbol: String, tick: Double) {
        self.symbol = symbol
        self.tick = tick
    }
}

final class Watch {
    let session: Int
    let instrument: Instrument
    var last = 0.0
    init(session: Int, instrument: Instrument) {
        self.session = session
        self.instrument = instrument
    }
}

final class Session {
    let id: Int
    let feed: AsyncStream<String>.Continuation
    var watches: [String: Watch] = [:]
    init(id: Int, feed: AsyncStream<String>.Continuation) {
        self.id = id
        self.feed = feed
    }
}

final class Statement {
    let session: Int
    var updates = 0
    init(session: Int) { self.session = session }
}

actor QuoteHub {
    private let instruments: [String: Instrument]
    private var sessions: [Int: Session] = [:]
    private var watchers: [String: [Int: Watch]] = [:]
    private var statements: [Int: Statement] = [:]
    private var nextID = 0

    init(instruments: [Instrument]) {
        self.instruments = Dictionary(uniqueKeysWithValues: instruments.map { ($0.symbol, $0) })
    }

    func open(_ feed: AsyncStream<String>.Continuation) -> Int {
        nextID += 1
        sessions[nextID] = Session(id: nextID, feed: feed)
        return nextID
    }

    func watch(_ symbol: String, session id: Int) {
        guard let session = sessions[id], let instrument = instruments[symbol] else { return }
        let watch = Watch(session: id, instrument: instrument)
        session.watches[symbol] = watch
        watchers[symbol, default: [:]][id] = watch
    }

    func unwatch(_ symbol: String, session id: Int) {
        sessions[id]?.watches[symbol] = nil
        watchers[symbol]?[id] = nil
        if watchers[symbol]?.isEmpty == true { watchers[symbol] = nil }
    }

    func close(_ id: Int) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        for symbol in session.watches.keys { 
            watchers[symbol]?[id] = nil
            if watchers[symbol]?.isEmpty == true { watchers[symbol] = nil }
        }
        statements[id] = nil
        session.feed.finish()
    }

    func move(_ symbol: String, to price: Double) {
        for (id, watch) in watchers[symbol] ?? [:] where abs(watch.last - price) >= watch.instrument.tick {
            watch.last = price
            let statement = statements[id] ?? Statement(session: id)
            statement.updates += 1
            statements[id] = statement
            sessions[id]?.feed.yield("\(symbol) \(price)\n")
        }
    }

    var summary: String { "\(sessions.count) sessions, \(watchers.count) symbols, \(statements.count) statements of \(nextID)" }
}

typealias Line = NIOAsyncChannel<ByteBuffer, ByteBuffer>

func serve(_ line: Line, hub: QuoteHub) async {
    let (feed, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(50))
    let id = await hub.open(continuation)
    do {
        try await line.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await update in feed { try await outbound.write(ByteBuffer(string: update)) }
                }
                for try await command in inbound {
                    let words = String(buffer: command).split(separator: " ").map(String.init)
                    if words.count == 2, words[0] == "WATCH" { await hub.watch(words[1], session: id) }
                    if words.count == 2, words[0] == "FORGET" { await hub.unwatch(words[1], session: id) }
                }
                group.cancelAll()
            }
        }
    } catch {}
    await hub.close(id)
}

@main
struct QuoteServer {
    static let hub = QuoteHub(instruments: (0..<200).map { Instrument(symbol: "Q\($0)", tick: 0.01 * Double(1 + $0 % 5)) })
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(LineBasedFrameDecoder()))
                return try Line(wrappingChannelSynchronously: channel)
            }
        }
        let port = listener.channel.localAddress!.port!
        let server = Task {
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask {
                    var price = 100.0
                    while !Task.isCancelled {
                        try await Task.sleep(for: .milliseconds(100))
                        price += 0.25
                        for index in 0..<200 { await hub.move("Q\(index)", to: price + Double(index)) }
                    }
                }
                try await listener.executeThenClose { lines in
                    for try await line in lines { tasks.addTask { await serve(line, hub: hub) } }
                }
            }
        }
        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            Task {
                print(await hub.summary)
                server.cancel()
            }
        }
        terminations.resume()
        print("ready")
        let clients = Task {
            let bootstrap = ClientBootstrap(group: group)
            var desks: [any Channel] = []
            for index in 0..<100 {
                let desk = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
                try await desk.writeAndFlush(ByteBuffer(string: "WATCH Q\(index)\nWATCH Q\(index + 50)\nWATCH Q\(index + 100)\nFORGET Q\(index + 50)\n"))
                desks.append(desk)
            }
            for round in 0..<4 {
                for index in stride(from: round, to: 100, by: 3) {
                    try await desks[index].close()
                    desks[index] = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
                    try await desks[index].writeAndFlush(ByteBuffer(string: "WATCH Q\(index)\nWATCH Q7\n"))
                }
                try await Task.sleep(for: .milliseconds(80))
            }
            for desk in desks { try await desk.writeAndFlush(ByteBuffer(string: "WATCH Q1\nWATCH Q2\n")) }
            try await Task.sleep(for: .milliseconds(200))
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .milliseconds(500))
            return desks.count
        }
        _ = try? await server.value
        _ = try? await clients.value
        print("bye")
    }
}
