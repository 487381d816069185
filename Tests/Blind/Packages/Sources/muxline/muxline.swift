import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

/// Many questions share one connection: "id verb argument" out, "id answer" back, in any order.
final class BackendHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let words = String(buffer: unwrapInboundIn(data)).split(separator: " ").map(String.init)
        guard words.count == 3, let weight = Int(words[2]) else { return }
        let delay: TimeAmount
        switch words[1] {
        case "square": delay = .microseconds(Int64(weight % 7) * 300)
        case "drop": return
        default: delay = .seconds(5)
        }
        let channel = context.channel
        context.eventLoop.scheduleTask(in: delay) {
            channel.writeAndFlush(ByteBuffer(string: "\(words[0]) \(weight * weight)\n"), promise: nil)
        }
    }
}

enum MuxError: Error { case timeout, closed }

final class PendingCall {
    let promise: EventLoopPromise<Int>
    let verb: String
    var timer: Scheduled<Void>?
    init(promise: EventLoopPromise<Int>, verb: String) {
        self.promise = promise
        self.verb = verb
    }
}

final class MuxHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = (verb: String, argument: Int, promise: EventLoopPromise<Int>)
    typealias OutboundOut = ByteBuffer

    private var nextID = 0
    private var pending: [Int: PendingCall] = [:]
    private(set) var answered = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let request = unwrapOutboundIn(data)
        nextID += 1
        let id = nextID
        let call = PendingCall(promise: request.promise, verb: request.verb)
        pending[id] = call
        let loopBound = NIOLoopBound(self, eventLoop: context.eventLoop)
        call.timer = context.eventLoop.scheduleTask(in: request.verb == "drop" ? .milliseconds(150) : .seconds(8)) {
            loopBound.value.finish(id, .failure(MuxError.timeout))
        }
        context.write(wrapOutboundOut(ByteBuffer(string: "\(id) \(request.verb) \(request.argument)\n")), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let words = String(buffer: unwrapInboundIn(data)).split(separator: " ")
        guard words.count == 2, let id = Int(words[0]), let value = Int(words[1]) else { return }
        answered += 1
        finish(id, .success(value))
    }

    func channelInactive(context: ChannelHandlerContext) {
        for id in pending.keys { finish(id, .failure(MuxError.closed)) }
        context.fireChannelInactive()
    }

    private func finish(_ id: Int, _ result: Result<Int, any Error>) {
        guard let call = pending.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        call.timer = nil
        call.promise.completeWith(result)
    }
}

struct MuxClient: Sendable {
    let channel: any Channel

    func call(_ verb: String, _ argument: Int) -> EventLoopFuture<Int> {
        let promise = channel.eventLoop.makePromise(of: Int.self)
        channel.eventLoop.execute {
            let request: MuxHandler.OutboundIn = (verb, argument, promise)
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(request), promise: nil)
        }
        return promise.futureResult
    }
}

@main
struct MuxLine {
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let backend = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(ByteToMessageHandler(LineBasedFrameDecoder()), BackendHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var clients: [MuxClient] = []
        for _ in 0..<6 {
            let channel = try await ClientBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(ByteToMessageHandler(LineBasedFrameDecoder()), MuxHandler())
                    }
                }
                .connect(host: "127.0.0.1", port: backend.localAddress!.port!).get()
            clients.append(MuxClient(channel: channel))
        }
        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            print("terminated")
            exit(0)
        }
        terminations.resume()
        print("ready")

        var sum = 0
        for round in 0..<30 {
            let answers = (0..<48).map { clients[$0 % 6].call("square", round + $0) }
            for answer in answers { sum += try await answer.get() }
            if round % 3 == 0 { _ = try? await clients[round % 6].call("drop", round).get() }
        }
        print("sum \(sum)")
        // Long reports that are still being computed when the process gets its signal.
        let reports = (0..<60).map { clients[$0 % 6].call("report", $0) }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.3)
            kill(getpid(), SIGTERM)
        }
        for report in reports { _ = try? await report.get() }
    }
}
