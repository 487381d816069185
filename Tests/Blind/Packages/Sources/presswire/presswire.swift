import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

final class Subscriber: Sendable {
    let id: Int
    let topic: String
    let articles: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init(id: Int, topic: String) {
        self.id = id
        self.topic = topic
        (articles, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(20))
    }

    func offer(_ article: String) { continuation.yield(article) }
}

actor Newsroom {
    private var topics: [String: [Int: Subscriber]] = [:]
    private var nextID = 0
    private var published = 0

    func subscribe(to topic: String) -> Subscriber {
        nextID += 1
        let subscriber = Subscriber(id: nextID, topic: topic)
        topics[topic, default: [:]][subscriber.id] = subscriber
        return subscriber
    }

    func unsubscribe(_ subscriber: Subscriber) {
        topics[subscriber.topic]?[subscriber.id] = nil
    }

    func publish(_ article: String, on topic: String) {
        published += 1
        for subscriber in (topics[topic] ?? [:]).values { subscriber.offer(article) }
    }

    var summary: String { "\(published) articles, \(topics.count) topics" }
}

typealias LineConnection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

struct WireServer {
    let newsroom: Newsroom

    func serve(_ listener: NIOAsyncChannel<LineConnection, Never>) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask {
                        try? await self.talk(to: connection)
                    }
                }
            }
        }
    }

    private func talk(to connection: LineConnection) async throws {
        try await connection.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: Void.self) { feeds in
                var current: [String: Subscriber] = [:]
                commands: for try await line in inbound {
                    let words = String(buffer: line).split(separator: " ", maxSplits: 2).map(String.init)
                    switch words.first {
                    case "SUB" where words.count == 2:
                        let subscriber = await newsroom.subscribe(to: words[1])
                        current[words[1]] = subscriber
                        feeds.addTask {
                            for await article in subscriber.articles {
                                try await outbound.write(ByteBuffer(string: "\(subscriber.topic): \(article)\n"))
                            }
                        }
                        try await outbound.write(ByteBuffer(string: "SUBSCRIBED\n"))
                    case "UNSUB" where words.count == 2:
                        if let subscriber = current.removeValue(forKey: words[1]) {
                            await newsroom.unsubscribe(subscriber)
                        }
                    case "PUB" where words.count == 3:
                        await newsroom.publish(words[2], on: words[1])
                    case "BYE":
                        break commands
                    default:
                        try await outbound.write(ByteBuffer(string: "WHAT\n"))
                    }
                }
                feeds.cancelAll()
            }
        }
    }
}

@main
struct NewsWire {
    static let newsroom = Newsroom()
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func lines(_ channel: any Channel) -> EventLoopFuture<LineConnection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(LineBasedFrameDecoder()))
            return try LineConnection(wrappingChannelSynchronously: channel)
        }
    }

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0, childChannelInitializer: lines)
        let port = listener.channel.localAddress!.port!
        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            Task {
                print(await newsroom.summary)
                exit(0)
            }
        }
        terminations.resume()
        print("ready")
        let server = Task { try await WireServer(newsroom: newsroom).serve(listener) }

        let bootstrap = ClientBootstrap(group: group)
        var readers: [any Channel] = []
        for index in 0..<40 {
            let reader = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            try await reader.writeAndFlush(ByteBuffer(string: "SUB topic\(index % 5)\n"))
            readers.append(reader)
        }
        // People who look in for one or two articles.
        for index in 0..<200 {
            let connection = try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: lines)
            try await connection.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "SUB topic\(index % 10)\n"))
                for try await line in inbound where String(buffer: line) == "SUBSCRIBED" { break }
                if index % 2 == 0 { try await outbound.write(ByteBuffer(string: "PUB topic\(index % 10) edition \(index)\nBYE\n")) }
            }
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.6)
            kill(getpid(), SIGTERM)
        }
        while true {
            try await Task.sleep(for: .milliseconds(40))
            for (index, reader) in readers.enumerated() where index % 8 == 0 {
                try await reader.writeAndFlush(ByteBuffer(string: "PUB topic\(index % 5) late edition\n"))
            }
            if server.isCancelled { break }
        }
    }
}
