import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sorts letters by district; answers every POST with the number of the box.
final class SortingOffice: ChannelInboundHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private var letter = ByteBuffer()
    private var uri = "/"

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            uri = head.uri
            letter.clear()
        case .body(var part):
            letter.writeBuffer(&part)
        case .end:
            let status: HTTPResponseStatus = uri.hasPrefix("/box") ? .created : .notFound
            let text = "\(uri) has \(letter.readableBytes)"
            let headers: HTTPHeaders = ["content-length": "\(text.utf8.count)"]
            context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

struct Letter: Sendable {
    let box: Int
    let text: String
}

/// What happened to one letter; the caller reads it once.
final class Receipt: Sendable {
    let box: Int
    let status: UInt
    let answer: String

    init(box: Int, status: UInt, answer: String) {
        self.box = box
        self.status = status
        self.answer = answer
    }
}

/// Keeps the last receipts for questions at the counter.
actor ReceiptDrawer {
    private var drawer: [Receipt] = []
    private(set) var accepted = 0

    func put(_ receipt: Receipt) {
        if receipt.status == 201 { accepted += 1 }
        drawer.append(receipt)
        if drawer.count > 25 { drawer.removeFirst() }
    }

    var kept: Int { drawer.count }
}

struct Round: Sendable {
    let base: String

    func post(_ letter: Letter, with client: HTTPClient) async throws -> Receipt {
        var request = HTTPClientRequest(url: "\(base)/box/\(letter.box)")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: letter.text))
        let response = try await client.execute(request, timeout: .seconds(5))
        let body = try await response.body.collect(upTo: 4096)
        return Receipt(box: letter.box, status: response.status.code, answer: String(buffer: body))
    }

    /// Registered mail always goes with a client of its own.
    func registered(_ letter: Letter, on group: EventLoopGroup) async throws -> Receipt {
        let client = HTTPClient(eventLoopGroupProvider: .shared(group))
        do {
            let receipt = try await post(letter, with: client)
            try await client.shutdown()
            return receipt
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}

@main
struct Postman {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMap {
                    channel.pipeline.addHandler(SortingOffice())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let round = Round(base: "http://127.0.0.1:\(server.localAddress!.port!)")
        let drawer = ReceiptDrawer()
        let shared = HTTPClient(eventLoopGroupProvider: .shared(group))

        try await withThrowingTaskGroup(of: Void.self) { streets in
            for street in 0..<8 {
                streets.addTask {
                    for house in 0..<40 {
                        let letter = Letter(box: street * 100 + house, text: String(repeating: "dear ", count: house + 1))
                        await drawer.put(try await round.post(letter, with: shared))
                        if house % 10 == 0 {
                            await drawer.put(try await round.registered(letter, on: group))
                        }
                    }
                }
            }
            try await streets.waitForAll()
        }
        try await Task.sleep(for: .milliseconds(600))
        print("\(await drawer.accepted) letters accepted, \(await drawer.kept) receipts kept")
        try await shared.shutdown()
        try await server.close()
        try await group.shutdownGracefully()
    }
}
