import Foundation
import NIOCore
import NIOExtras
import NIOPosix

/// One reader of one desk's stories.
final class Subscriber: Sendable {
    let id = UUID()
    let desk: String
    let stories: AsyncStream<String>
    private let inbox: AsyncStream<String>.Continuation

    init(desk: String) {
        self.desk = desk
        (stories, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
    }

    func push(_ story: String) { inbox.yield(story) }
    func close() { inbox.finish() }
}

actor Wire {
    private var desks: [String: [UUID: Subscriber]] = [:]
    private(set) var published = 0

    func subscribe(to desk: String) -> Subscriber {
        let subscriber = Subscriber(desk: desk)
        desks[desk, default: [:]][subscriber.id] = subscriber
        return subscriber
    }

    func unsubscribe(_ subscriber: Subscriber) {
        desks[subscriber.desk]?.removeValue(forKey: subscriber.id)
        subscriber.close()
    }

    func publish(_ story: String, on desk: String) {
        published += 1
        for subscriber in desks[desk, default: [:]].values { subscriber.push(story) }
    }
}

typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

func wrap(_ channel: Channel) -> EventLoopFuture<Connection> {
    channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(LineBasedFrameDecoder()))
        return try Connection(wrappingChannelSynchronously: channel)
    }
}

/// SUB desk | PUB desk text | QUIT
func serve(_ connection: Connection, wire: Wire) async {
    try? await connection.executeThenClose { inbound, outbound in
        await withTaskGroup(of: Void.self) { group in
            var current: Subscriber?
            do {
                reading: for try await var line in inbound {
                    let words = (line.readString(length: line.readableBytes) ?? "").split(separator: " ", maxSplits: 2)
                    switch words.first {
                    case "SUB" where words.count > 1:
                        let subscriber = await wire.subscribe(to: String(words[1]))
                        current = subscriber
                        group.addTask {
                            for await story in subscriber.stories {
                                try? await outbound.write(ByteBuffer(string: story + "\n"))
                            }
                        }
                        try await outbound.write(ByteBuffer(string: "OK\n"))
                    case "PUB" where words.count > 2:
                        await wire.publish(String(words[2]), on: String(words[1]))
                        try await outbound.write(ByteBuffer(string: "OK\n"))
                    case "QUIT":
                        if let subscriber = current { await wire.unsubscribe(subscriber) }
                        current = nil
                        break reading
                    default:
                        try await outbound.write(ByteBuffer(string: "ERR\n"))
                    }
                }
            } catch {
                // The peer went away in the middle of a line.
            }
            group.cancelAll()
        }
    }
}

func client(_ address: SocketAddress, lines: [String]) async throws {
    let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(to: address) { wrap($0) }
    try await connection.executeThenClose { inbound, outbound in
        var answers = inbound.makeAsyncIterator()
        for line in lines {
            try await outbound.write(ByteBuffer(string: line + "\n"))
            if line != "QUIT" { _ = try await answers.next() }
        }
    }
}

@main
struct Newswire {
    static let wire = Wire()

    static func main() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { wrap($0) }
        let address = server.channel.localAddress!

        let service = Task {
            try await withThrowingDiscardingTaskGroup { group in
                try await server.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { await serve(connection, wire: wire) }
                    }
                }
            }
        }

        let desks = ["sport", "city", "weather", "court"]
        for number in 0..<150 {
            let desk = desks[number % desks.count]
            let polite = number % 3 == 0
            try await client(address, lines: ["SUB \(desk)"] + (polite ? ["QUIT"] : []))
        }
        try await client(address, lines: (0..<40).map { "PUB \(desks[$0 % 4]) story number \($0)" })
        try await Task.sleep(for: .milliseconds(500))
        print("published \(await wire.published) stories")
        service.cancel()
        _ = await service.result
    }
}
