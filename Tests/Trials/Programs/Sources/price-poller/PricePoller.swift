// A server of prices, and a service that polls it through async-http-client. With "leak", every tenth quote stays in a
// dictionary of quotes to audit.
import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Answers each request with a price that is derived from its path.
final class PriceHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private var path = ""

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): path = head.uri
    case .body: break
    case .end:
      let body = context.channel.allocator.buffer(string: "\(path.utf8.count * 7)")
      var head = HTTPResponseHead(version: .http1_1, status: .ok)
      head.headers.add(name: "content-length", value: "\(body.readableBytes)")
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}

/// One answer of the server.
final class Quote: Sendable {
  let number: Int
  let price: Int

  init(number: Int, price: Int) {
    self.number = number
    self.price = price
  }
}

/// The quotes of the day: the latest few, and those to audit.
final class QuoteBook: Sendable {
  static let today = QuoteBook(isAuditing: CommandLine.arguments.last == "leak")

  private let latest = Mutex<[Quote]>([])
  private let audits = Mutex<[Int: Quote]>([:])
  private let isAuditing: Bool

  init(isAuditing: Bool) { self.isAuditing = isAuditing }

  func enter(_ quote: Quote) {
    latest.withLock {
      $0.append(quote)
      if $0.count > 5 { $0.removeFirst() }
    }
    if isAuditing, quote.number.isMultiple(of: 10) { audits.withLock { $0[quote.number] = quote } }
  }

  var mean: Int { latest.withLock { $0.map(\.price).reduce(0, +) / max(1, $0.count) } }
}

struct Poller: Service {
  let client: HTTPClient
  let port: Int
  let book: QuoteBook
  let polls: Int

  func run() async throws {
    for number in 0..<polls {
      let response = try await client.execute(HTTPClientRequest(url: "http://127.0.0.1:\(port)/prices/\(number)"), timeout: .seconds(30))
      let body = try await response.body.collect(upTo: 1 << 10)
      book.enter(Quote(number: number, price: Int(String(buffer: body)) ?? 0))
    }
  }
}

@main struct PricePoller {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else { fatalError("usage: price-poller leak|clean") }
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(PriceHandler())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let book = QuoteBook.today
    var logger = Logger(label: "prices")
    logger.logLevel = .error
    let poller = Poller(client: .shared, port: server.localAddress?.port ?? 0, book: book, polls: 600)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [.init(service: poller, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger))
    try await group.run()
    try await server.close()
    print("mean \(book.mean)")
  }
}
