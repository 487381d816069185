import Dispatch
import Foundation
import NIOCore
import NIOExtras
import NIOPosix

final class TurbineMonitor {
    let serial: String
    private var samples: [Double] = []
    private var checks = 0
    private(set) var overspeed = 0

    init(serial: String) { self.serial = serial }

    func record(_ rpm: Double) {
        samples.append(rpm)
        if samples.count > 30 { samples.removeFirst() }
    }

    func check() {
        checks += 1
        guard !samples.isEmpty else { return }
        if samples.reduce(0, +) / Double(samples.count) > 1800 { overspeed += 1 }
    }
}

/// One turbine controller per connection: "HELLO serial", then "RPM value" lines.
final class TurbineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var monitor: TurbineMonitor?
    private let plant: Plant

    init(plant: Plant) { self.plant = plant }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let words = String(buffer: unwrapInboundIn(data)).split(separator: " ").map(String.init)
        guard words.count == 2 else { return }
        switch words[0] {
        case "HELLO":
            let monitor = TurbineMonitor(serial: words[1])
            self.monitor = monitor
            plant.online(monitor)
            let bound = NIOLoopBound(monitor, eventLoop: context.eventLoop)
            context.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .milliseconds(50)) { _ in
                bound.value.check()
            }
        case "RPM":
            monitor?.record(Double(words[1]) ?? 0)
        default:
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "?\n")), promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let monitor { plant.offline(monitor) }
        monitor = nil
    }
}

/// Used on the single loop of the plant only.
final class Plant {
    private var turbines: [String: TurbineMonitor] = [:]
    private(set) var connections = 0

    func online(_ monitor: TurbineMonitor) {
        connections += 1
        turbines[monitor.serial] = monitor
    }

    func offline(_ monitor: TurbineMonitor) { turbines[monitor.serial] = nil }

    var text: String { "\(turbines.count) turbines online of \(connections)" }
}

@main
struct Turbines {
    static let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())

    static func main() async throws {
        let plantLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let fieldLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let plant = NIOLoopBoundBox.makeBoxSendingValue(Plant(), eventLoop: plantLoop.next())
        let server = try await ServerBootstrap(group: plantLoop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineBasedFrameDecoder()), TurbineHandler(plant: plant.value))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        signal(SIGINT, SIG_IGN)
        interrupts.setEventHandler {
            server.eventLoop.execute {
                print(plant.value.text)
                exit(0)
            }
        }
        interrupts.resume()
        print("ready")

        let port = server.localAddress!.port!
        let bootstrap = ClientBootstrap(group: fieldLoop)
        func connect(_ serial: Int) async throws -> any Channel {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            try await channel.writeAndFlush(ByteBuffer(string: "HELLO T\(serial)\nRPM 1500\n"))
            return channel
        }
        var controllers: [any Channel] = []
        for serial in 0..<12 { controllers.append(try await connect(serial)) }
        // The mobile network drops a controller now and then; it reports again at once.
        for drop in 0..<36 {
            let index = drop % 12
            try await Task.sleep(for: .milliseconds(10))
            try await controllers[index].close()
            controllers[index] = try await connect(100 + drop)
            for controller in controllers { try await controller.writeAndFlush(ByteBuffer(string: "RPM \(1700 + drop * 5)\n")) }
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.5)
            kill(getpid(), SIGINT)
        }
        while true {
            try await Task.sleep(for: .milliseconds(30))
            for controller in controllers { try await controller.writeAndFlush(ByteBuffer(string: "RPM 1650\n")) }
        }
    }
}
