import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOExtras
import NIOPosix

final class Peer {
    let id: Int
    let channel: any Channel
    var extensionName = ""
    init(id: Int, channel: any Channel) {
        self.id = id
        self.channel = channel
    }
}

final class Mailbox {
    let owner: String
    var messages: [String] = []
    init(owner: String) { self.owner = owner }
    func put(_ text: String) {
        messages.append(text)
        if messages.count > 10 { messages.removeFirst() }
    }
}

final class SpeedGauge {
    var window = NIODeadline.now()
    var lines = 0
    func count() -> Bool {
        if NIODeadline.now() - window > .seconds(1) {
            window = .now()
            lines = 0
        }
        lines += 1
        return lines < 500
    }
}

final class Call {
    let from: Int
    let to: Int
    let started = NIODeadline.now()
    init(from: Int, to: Int) {
        self.from = from
        self.to = to
    }
}

/// The exchange: peers, their names, and their calls.
final class Exchange: @unchecked Sendable {
    private let lock = NIOLock()
    private var nextID = 0
    private var peers: [Int: Peer] = [:]
    private var names: [String: Int] = [:]
    private var mailboxes: [String: Mailbox] = [:]
    private var gauges: [Int: SpeedGauge] = [:]
    private var calls: [Call] = []

    func plugIn(_ channel: any Channel) -> Int {
        lock.withLock {
            nextID += 1
            peers[nextID] = Peer(id: nextID, channel: channel)
            gauges[nextID] = SpeedGauge()
            return nextID
        }
    }

    func unplug(_ id: Int) {
        lock.withLock {
            guard let peer = peers.removeValue(forKey: id) else { return }
            gauges[id] = nil
            if names[peer.extensionName] == id {
                names[peer.extensionName] = nil
                mailboxes[peer.extensionName] = nil
            }
            calls.removeAll { $0.from == id || $0.to == id }
        }
    }

    func handle(_ line: String, from id: Int) -> String? {
        lock.withLock {
            guard let peer = peers[id], gauges[id]?.count() == true else { return "BUSY" }
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            switch (words.first, words.count) {
            case ("NAME", 2):
                peer.extensionName = words[1]
                names[words[1]] = id
                return "OK"
            case ("CALL", 2):
                guard let other = names[words[1]] else { return "NOBODY" }
                calls.removeAll { $0.from == id }
                calls.append(Call(from: id, to: other))
                peers[other]?.channel.writeAndFlush(ByteBuffer(string: "RING \(peer.extensionName)\n"), promise: nil)
                return "CALLING"
            case ("LEAVE", 3):
                guard names[words[1]] != nil else { return "NOBODY" }
                let box = mailboxes[words[1]] ?? Mailbox(owner: words[1])
                mailboxes[words[1]] = box
                box.put(words[2])
                return "STORED"
            default:
                return "WHAT"
            }
        }
    }

    var summary: String { lock.withLock { "\(peers.count) peers, \(mailboxes.count) mailboxes, \(calls.count) calls" } }
}

final class LineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let exchange: Exchange
    private var id = 0
    init(exchange: Exchange) { self.exchange = exchange }

    func channelActive(context: ChannelHandlerContext) {
        id = exchange.plugIn(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        exchange.unplug(id)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let answer = exchange.handle(String(buffer: unwrapInboundIn(data)), from: id) else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer + "\n")), promise: nil)
    }
}

@main
struct Switchboard {
    static let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let exchange = Exchange()
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(LineBasedFrameDecoder()), LineHandler(exchange: exchange))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        signal(SIGINT, SIG_IGN)
        let (stops, stop) = AsyncStream<Void>.makeStream()
        interrupts.setEventHandler { stop.finish() }
        interrupts.resume()
        print("ready")

        let bootstrap = ClientBootstrap(group: group)
        let port = server.localAddress!.port!
        func plug(_ name: String) async throws -> any Channel {
            let channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            try await channel.writeAndFlush(ByteBuffer(string: "NAME \(name)\n"))
            return channel
        }
        var phones: [any Channel] = []
        for index in 0..<90 { phones.append(try await plug("x\(index)")) }
        for round in 0..<4 {
            for index in 0..<90 {
                try await phones[index].writeAndFlush(ByteBuffer(string: "LEAVE x\((index + round) % 60) note \(round)\nCALL x\((index * 7) % 90)\n"))
            }
            for index in stride(from: round, to: 90, by: 4) {
                try await phones[index].close()
                phones[index] = try await plug("x\(index)")
            }
            try await Task.sleep(for: .milliseconds(60))
        }
        for index in 0..<90 {
            try await phones[index].writeAndFlush(ByteBuffer(string: "LEAVE x\(index) last\nCALL x\((index + 1) % 90)\n"))
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.4)
            kill(getpid(), SIGINT)
        }
        for await _ in stops {}
        print(exchange.summary)
        exit(0)
    }
}
