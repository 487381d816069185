import Foundation
import NIOCore
import NIOPosix

/// A question to the donation office that has not been answered yet.
final class OpenPledge {
    let id: UInt64
    let donor: String
    let promise: EventLoopPromise<Int>
    let asked = NIODeadline.now()

    init(id: UInt64, donor: String, promise: EventLoopPromise<Int>) {
        self.id = id
        self.donor = donor
        self.promise = promise
    }
}

struct OfficeClosed: Error {}

/// Pledges that wait for an answer, by id. Answers may come on a later connection.
final class PledgeDesk: @unchecked Sendable {
    private let lock = NSLock()
    private var open: [UInt64: OpenPledge] = [:]
    private var lastID: UInt64 = 0

    func register(donor: String, on loop: EventLoop) -> OpenPledge {
        lock.withLock {
            lastID += 1
            let pledge = OpenPledge(id: lastID, donor: donor, promise: loop.makePromise(of: Int.self))
            open[lastID] = pledge
            return pledge
        }
    }

    func settle(_ id: UInt64, amount: Int) {
        lock.withLock { open.removeValue(forKey: id) }?.promise.succeed(amount)
    }
}

final class DeskHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private let desk: PledgeDesk
    private var rest = ByteBuffer()

    init(desk: PledgeDesk) { self.desk = desk }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        rest.writeBuffer(&part)
        while rest.readableBytes >= 16, let id: UInt64 = rest.readInteger(), let amount: Int = rest.readInteger() {
            desk.settle(id, amount: amount)
        }
    }
}

/// Confirms pledges with an even id at once; the office hangs up after the last one.
final class DonationOffice: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private var rest = ByteBuffer()
    private var seen = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        rest.writeBuffer(&part)
        var out = context.channel.allocator.buffer(capacity: 256)
        while let id: UInt64 = rest.readInteger() {
            seen += 1
            if id % 2 == 0 { out.writeMultipleIntegers(id, Int(id) * 5) }
        }
        context.writeAndFlush(NIOAny(out), promise: nil)
        if seen == 12 { context.close(promise: nil) }
    }
}

struct Fundraiser: Sendable {
    let desk: PledgeDesk
    let group: EventLoopGroup
    let office: SocketAddress

    /// One phone call with the office: twelve pledges, then it hangs up.
    func call(number: Int) async throws -> Int {
        let desk = self.desk
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { $0.pipeline.addHandler(DeskHandler(desk: desk)) }
            .connect(to: office).get()

        var out = channel.allocator.buffer(capacity: 96)
        var answers: [EventLoopFuture<Int>] = []
        for donor in 0..<12 {
            let pledge = desk.register(donor: "donor \(number)/\(donor)", on: channel.eventLoop)
            out.writeInteger(pledge.id)
            let answer = channel.eventLoop.makePromise(of: Int.self)
            pledge.promise.futureResult.whenSuccess { answer.succeed($0) }
            channel.closeFuture.whenComplete { _ in answer.fail(OfficeClosed()) }
            answers.append(answer.futureResult)
        }
        try await channel.writeAndFlush(out)
        let results = try await EventLoopFuture.whenAllComplete(answers, on: channel.eventLoop).get()
        return results.compactMap { try? $0.get() }.reduce(0, +)
    }
}

@main
struct Pledge {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { $0.pipeline.addHandler(DonationOffice()) }
            .bind(host: "127.0.0.1", port: 0).get()
        let desk = PledgeDesk()
        let fundraiser = Fundraiser(desk: desk, group: group, office: server.localAddress!)

        var total = 0
        for evening in 0..<25 {
            total += try await fundraiser.call(number: evening)
            try await Task.sleep(for: .milliseconds(15))
        }
        try await Task.sleep(for: .milliseconds(400))
        print("collected \(total)")
        try await server.close()
        withExtendedLifetime(desk) { exit(0) }
    }
}
