import Dispatch
import Foundation
import Glibc
import NIOCore
import NIOExtras
import NIOPosix

/// Counts who is connected; an entry lives exactly as long as its connection.
final class Perch: @unchecked Sendable {
    private let lock = NSLock()
    private var visitors: [ObjectIdentifier: Visitor] = [:]
    private(set) var total = 0

    func land(_ visitor: Visitor, on channel: Channel) {
        lock.withLock {
            total += 1
            visitors[ObjectIdentifier(channel)] = visitor
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.depart(ObjectIdentifier(channel))
        }
    }

    private func depart(_ id: ObjectIdentifier) { lock.withLock { _ = visitors.removeValue(forKey: id) } }
    var sitting: Int { lock.withLock { visitors.count } }
}

final class Visitor: @unchecked Sendable {
    let arrived = NIODeadline.now()
    var phrases: [String] = []

    func learn(_ phrase: String) {
        phrases.append(phrase)
        if phrases.count > 5 { phrases.removeFirst() }
    }
}

final class EchoHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let perch: Perch
    private let visitor = Visitor()

    init(perch: Perch) { self.perch = perch }

    func channelActive(context: ChannelHandlerContext) {
        perch.land(visitor, on: context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var line = unwrapInboundIn(data)
        visitor.learn(line.getString(at: line.readerIndex, length: line.readableBytes) ?? "")
        line.writeString("\n")
        context.write(wrapOutboundOut(line), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}

final class Teacher: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private var lessons: Int
    private let stays: Bool

    init(lessons: Int, stays: Bool) {
        self.lessons = lessons
        self.stays = stays
    }

    func channelActive(context: ChannelHandlerContext) { speak(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if lessons > 0 { speak(context) } else if !stays { context.close(promise: nil) }
    }

    private func speak(_ context: ChannelHandlerContext) {
        lessons -= 1
        let text = "pretty polly \(lessons)\n"
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(string: text)), promise: nil)
    }
}

@main
struct Parrot {
    static func main() throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let perch = Perch()
        let quiesce = ServerQuiescingHelper(group: group)
        let server = try ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.pipeline.addHandler(quiesce.makeServerChannelHandler(channel: channel))
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(LineBasedFrameDecoder()), EchoHandler(perch: perch),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()

        signal(SIGINT, SIG_IGN)
        let allGone = group.next().makePromise(of: Void.self)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            print("\(perch.sitting) of \(perch.total) visitors still here")
            quiesce.initiateShutdown(promise: allGone)
        }
        source.resume()

        var regulars: [Channel] = []
        for number in 0..<260 {
            let stays = number >= 200
            let client = try ClientBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(Teacher(lessons: 8, stays: stays)) }
                .connect(to: server.localAddress!).wait()
            if stays { regulars.append(client) } else { try client.closeFuture.wait() }
        }
        Thread.detachNewThread {
            usleep(500_000)
            kill(getpid(), SIGINT)
        }
        try allGone.futureResult.wait()
        for client in regulars { try client.closeFuture.wait() }
        source.cancel()
    }
}
