// A shop's HTTP server. With "leak" it keeps the record of every fiftieth request, with "clean" none. Ends on SIGTERM.
import Foundation
import Hummingbird
import Logging

@main struct AuditServer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else {
      FileHandle.standardError.write(Data("usage: audit-server leak|clean\n".utf8))
      exit(64)
    }
    LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
    var logger = Logger(label: "shop")
    logger.logLevel = .warning
    let application = Application(
      router: router(keepsSampled: arguments[1] == "leak"),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        print("port \(channel.localAddress?.port ?? 0)")
        fflush(stdout)
      },
      logger: logger)
    try await application.runService()
  }

  private static func router(keepsSampled: Bool) -> Router<ShopContext> {
    let products = ProductCache()
    let orders = OrderBook()
    let router = Router(context: ShopContext.self)
    router.add(middleware: AuditMiddleware(keepsSampled: keepsSampled))
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("products/:id") { _, context in
      let product = await products.product(try context.parameters.require("id", as: Int.self))
      context.audit?.note("product \(product.id)")
      return ProductPage(id: product.id, title: product.title, tags: product.tags)
    }
    router.post("orders") { request, context in
      let form = try await request.decode(as: OrderForm.self, context: context)
      let receipt = await orders.enter(form, of: products.product(form.product))
      context.audit?.note("order \(receipt.number)")
      return receipt
    }
    return router
  }
}
