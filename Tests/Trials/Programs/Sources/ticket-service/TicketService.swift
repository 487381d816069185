// A ticket office as an HTTP service. A client in the same process buys tickets until it has enough, and then shuts
// down the service group. With "leak", each ticket has a closure that captures it.
import AsyncHTTPClient
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// A seat for sale, and a closure to run when it is paid for.
final class Ticket: @unchecked Sendable {
  let seat: Int
  var whenPaid: (@Sendable () -> Int)?

  init(seat: Int) { self.seat = seat }

  func sell(keepingItself: Bool) -> Int {
    if keepingItself {
      whenPaid = { self.seat * 2 }
    } else {
      whenPaid = { [weak self] in (self?.seat ?? 0) * 2 }
    }
    return whenPaid?() ?? 0
  }
}

/// Buys tickets one after another, then asks the group to end.
struct Buyer: Service {
  let port: AsyncStream<Int>
  let purchases: Int

  func run() async throws {
    let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup)
    var bought = 0
    for await port in port {
      for seat in 0..<purchases {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/tickets/\(seat)")
        request.method = .POST
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 10)
        if response.status == .ok, body.readableBytes > 0 { bought += 1 }
      }
      break
    }
    try await client.shutdown()
    print("bought \(bought)")
  }
}

@main struct TicketService {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else { fatalError("usage: ticket-service leak|clean") }
    let isKeepingItself = arguments[1] == "leak"
    var logger = Logger(label: "tickets")
    logger.logLevel = .error

    let router = Router()
    router.post("tickets/:seat") { _, context in
      let ticket = Ticket(seat: try context.parameters.require("seat", as: Int.self))
      return "paid \(ticket.sell(keepingItself: isKeepingItself))"
    }
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in listening.yield(channel.localAddress?.port ?? 0) }, logger: logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: application),
          .init(service: Buyer(port: ports, purchases: 300), successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        logger: logger))
    try await group.run()
  }
}
