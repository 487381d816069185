import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOExtras
import NIOPosix

enum GeoError: Error { case timeout, disconnected, unknownPlace }

final class Place: Sendable {
    let name: String
    let latitude: Double
    let longitude: Double
    init(index: Int) {
        name = "place\(index)"
        latitude = Double(index % 180) - 90
        longitude = Double(index % 360) - 180
    }
}

final class Question {
    let text: String
    let promise: EventLoopPromise<String>
    var timeout: Scheduled<Void>?
    var observers: [(Result<String, any Error>) -> Void] = []

    init(text: String, promise: EventLoopPromise<String>) {
        self.text = text
        self.promise = promise
    }

    func settle(_ result: Result<String, any Error>) {
        timeout?.cancel()
        timeout = nil
        promise.completeWith(result)
        let waiting = observers
        observers.removeAll()
        for observer in waiting { observer(result) }
    }
}

/// Questions that are open at the same time with the same text are asked only once.
final class GeoClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var open: [String: Question] = [:]
    private(set) var asked = 0

    func ask(_ text: String, channel: any Channel, promise: EventLoopPromise<String>) {
        guard channel.isActive else { return promise.fail(GeoError.disconnected) }
        if let question = open[text] {
            question.observers.append { promise.completeWith($0) }
            return
        }
        let question = Question(text: text, promise: promise)
        open[text] = question
        asked += 1
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        question.timeout = channel.eventLoop.scheduleTask(in: .milliseconds(120)) {
            handler.value.settle(text, .failure(GeoError.timeout))
        }
        channel.writeAndFlush(ByteBuffer(string: text + "\n"), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let words = String(buffer: unwrapInboundIn(data)).split(separator: "=", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return }
        settle(words[0], words[1] == "-" ? .failure(GeoError.unknownPlace) : .success(words[1]))
    }

    func channelInactive(context: ChannelHandlerContext) {
        for text in Array(open.keys) { settle(text, .failure(GeoError.disconnected)) }
    }

    private func settle(_ text: String, _ result: Result<String, any Error>) {
        open.removeValue(forKey: text)?.settle(result)
    }
}

final class GeoServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let places: [String: Place]
    init(places: [String: Place]) { self.places = places }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        if text.hasPrefix("silence") { return }
        if text.hasPrefix("hangup") { return context.close(promise: nil) }
        let answer = places[text].map { "\($0.latitude),\($0.longitude)" } ?? "-"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\(text)=\(answer)\n")), promise: nil)
    }
}

final class GeoClient: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<GeoClientHandler>

    static func connect(_ group: any EventLoopGroup, port: Int) async throws -> GeoClient {
        try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = GeoClientHandler()
                try channel.pipeline.syncOperations.addHandlers(ByteToMessageHandler(LineBasedFrameDecoder()), handler)
                return GeoClient(channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
            }
        }
    }

    private init(channel: any Channel, handler: NIOLoopBound<GeoClientHandler>) {
        self.channel = channel
        self.handler = handler
    }

    func ask(_ text: String) -> EventLoopFuture<String> {
        let promise = channel.eventLoop.makePromise(of: String.self)
        channel.eventLoop.execute { [handler, channel] in handler.value.ask(text, channel: channel, promise: promise) }
        return promise.futureResult
    }
}

@main
struct GeoQuery {
    static let places = (0..<1200).map(Place.init)

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let index = Dictionary(uniqueKeysWithValues: places.map { ($0.name, $0) })
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineBasedFrameDecoder()), GeoServerHandler(places: index))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress!.port!
        var clients: [GeoClient] = []
        for _ in 0..<10 { clients.append(try await GeoClient.connect(group, port: port)) }
        var good = 0
        var bad = 0
        for round in 0..<8 {
            var answers = (0..<200).map { clients[$0 % 10].ask("place\($0 / 3 * 7 + round)") }
            answers.append(clients[round].ask("silence\(round)"))
            answers.append(clients[round].ask("silence\(round)"))
            if round % 2 == 1 { answers.append(clients[round].ask("hangup")) }
            for answer in answers {
                do {
                    _ = try await answer.get()
                    good += 1
                } catch { bad += 1 }
            }
            if round % 2 == 1 { clients[round] = try await GeoClient.connect(group, port: port) }
        }
        // Open when the process ends: answers that never come before the timeout.
        let late = clients.map { $0.ask("silence at the end") }
        try await Task.sleep(for: .milliseconds(60))
        print("good \(good), bad \(bad), open \(late.count)")
    }
}
