import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Reads a parcel in parts and reports the progress.
final class ProgressDelegate: HTTPClientResponseDelegate, @unchecked Sendable {
    typealias Response = Int

    private let lock = NSLock()
    private var received = 0
    var onProgress: ((Int) -> Void)?

    func didReceiveBodyPart(task: HTTPClient.Task<Int>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let total = lock.withLock {
            received += buffer.readableBytes
            return received
        }
        onProgress?(total)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Int>) throws -> Int { lock.withLock { received } }
}

/// A parcel on its way: fetched once, with a percentage for the customer.
final class Shipment: @unchecked Sendable {
    let tracking: String
    private let expected: Int
    private let delegate = ProgressDelegate()
    private(set) var percent = 0
    private(set) var stamps: [String] = []

    init(tracking: String, expected: Int) {
        self.tracking = tracking
        self.expected = expected
    }

    func fetch(with client: HTTPClient, from base: String) async throws -> Int {
        delegate.onProgress = { bytes in
            self.percent = bytes * 100 / self.expected
            self.stamps.append("\(self.tracking): \(self.percent)%")
        }
        let request = try HTTPClient.Request(url: "\(base)/parcel/\(expected)")
        return try await client.execute(request: request, delegate: delegate, deadline: .now() + .seconds(5)).get()
    }
}

/// GET /parcel/<bytes> answers with that many bytes.
final class Depot: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private var size = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            size = Int(head.uri.split(separator: "/").last ?? "") ?? 0
        case .body:
            break
        case .end:
            var headers = HTTPHeaders()
            headers.add(name: "content-length", value: "\(size)")
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            let body = ByteBuffer(repeating: UInt8(ascii: "p"), count: size)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

actor DeliveryBook {
    private(set) var parcels = 0
    private(set) var bytes = 0

    func delivered(_ count: Int) {
        parcels += 1
        bytes += count
    }
}

@main
struct Courier {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMap {
                    channel.pipeline.addHandler(Depot())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let base = "http://127.0.0.1:\(server.localAddress!.port!)"
        let client = HTTPClient(eventLoopGroupProvider: .shared(group))
        let book = DeliveryBook()

        try await withThrowingTaskGroup(of: Void.self) { vans in
            for van in 0..<3 {
                vans.addTask {
                    for stop in 0..<30 {
                        let shipment = Shipment(tracking: "V\(van)-\(stop)", expected: 4_000 + 900 * stop)
                        await book.delivered(try await shipment.fetch(with: client, from: base))
                    }
                }
            }
            try await vans.waitForAll()
        }
        try await Task.sleep(for: .milliseconds(700))
        print("\(await book.parcels) parcels, \(await book.bytes) bytes")
        try await client.shutdown()
        try await server.close()
        try await group.shutdownGracefully()
    }
}
