import Foundation
import NIOCore
import NIOPosix

/// Samples of one patient's pulse, the newest only.
final class PulseTrace {
    private var samples: [Int] = []

    func add(_ value: Int) {
        samples.append(value)
        if samples.count > 30 { samples.removeFirst() }
    }

    var average: Int { samples.isEmpty ? 0 : samples.reduce(0, +) / samples.count }
}

/// Asks the device for a pulse at a fixed interval while it is connected.
final class DeviceHandler: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let ward: Ward
    private let trace = PulseTrace()
    private var polling: RepeatedTask?
    private var alarm: Scheduled<Void>?

    init(ward: Ward) { self.ward = ward }

    func channelActive(context: ChannelHandlerContext) {
        ward.add(trace, for: context.channel)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        polling = context.eventLoop.scheduleRepeatedTask(
            initialDelay: .milliseconds(5), delay: .milliseconds(20)
        ) { _ in
            let context = bound.value
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: "?")), promise: nil)
        }
        armAlarm(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        while let value: UInt8 = bytes.readInteger() { trace.add(Int(value)) }
        armAlarm(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        polling?.cancel()
        alarm?.cancel()
        polling = nil
        alarm = nil
        ward.remove(context.channel)
        context.fireChannelInactive()
    }

    private func armAlarm(_ context: ChannelHandlerContext) {
        alarm?.cancel()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(in: .seconds(20)) { bound.value.close(promise: nil) }
    }
}

final class Ward: @unchecked Sendable {
    private let lock = NSLock()
    private var beds: [ObjectIdentifier: PulseTrace] = [:]
    private(set) var admitted = 0

    func add(_ trace: PulseTrace, for channel: Channel) {
        lock.withLock {
            admitted += 1
            beds[ObjectIdentifier(channel)] = trace
        }
    }

    func remove(_ channel: Channel) { lock.withLock { _ = beds.removeValue(forKey: ObjectIdentifier(channel)) } }
    var occupied: Int { lock.withLock { beds.count } }
}

final class Device: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    private let base: UInt8
    private var answers: Int

    init(base: UInt8, answers: Int) {
        self.base = base
        self.answers = answers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let pulse = base + UInt8(answers % 9)
        answers -= 1
        if answers < 0 {
            context.close(promise: nil)
        } else {
            var reply = context.channel.allocator.buffer(capacity: 1)
            reply.writeInteger(pulse)
            context.writeAndFlush(NIOAny(reply), promise: nil)
        }
    }
}

@main
struct Pacemaker {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let ward = Ward()
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { $0.pipeline.addHandler(DeviceHandler(ward: ward)) }
            .bind(host: "127.0.0.1", port: 0).get()

        func connect(_ number: Int, answers: Int) async throws -> Channel {
            try await ClientBootstrap(group: group)
                .channelInitializer { $0.pipeline.addHandler(Device(base: UInt8(55 + number % 30), answers: answers)) }
                .connect(to: server.localAddress!).get()
        }

        var staying: [Channel] = []
        for number in 0..<10 { staying.append(try await connect(number, answers: .max)) }
        for shift in 0..<6 {
            var outpatients: [Channel] = []
            for number in 0..<15 { outpatients.append(try await connect(shift + number, answers: 3)) }
            for device in outpatients { try await device.closeFuture.get() }
        }
        let office = group.next()
        let rounds = office.scheduleRepeatedAsyncTask(initialDelay: .zero, delay: .milliseconds(50)) { _ in
            office.makeSucceededFuture(())
        }
        try await Task.sleep(for: .milliseconds(700))
        rounds.cancel()
        print("\(ward.occupied) of \(ward.admitted) devices still connected, \(staying.count) on the ward")
        // The ward never closes: the process ends with the devices connected.
        exit(0)
    }
}
