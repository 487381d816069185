// HTTP server of a shop. It returns products and accepts orders as JSON. Prints "port NUMBER"; exits on SIGTERM.
// With SHOP_LEAK_EVERY=N, every Nth order leaks a basket that refers to itself.

import Foundation
import Hummingbird
import Logging

struct Product: ResponseEncodable {
  var id: Int
  var title: String
  var tags: [String]
  var prices: [String: Double]
}

struct Order: Decodable {
  var product: Int
  var quantity: Int
  var customer: String
}

struct Receipt: ResponseEncodable {
  var number: Int
  var total: Double
  var lines: [String]
}

final class Basket {
  var order: Order
  var onPaid: (() -> Void)?

  init(_ order: Order) {
    self.order = order
    onPaid = { self.order.quantity = 0 }
  }
}

/// Keeps a limited number of orders, so that memory does not depend on the length of a run.
actor Shop {
  private let products: [Product]
  private var orders: [Order] = []
  private var number = 0
  private let ordersPerLeak = ProcessInfo.processInfo.environment["SHOP_LEAK_EVERY"].flatMap { Int($0) }

  init() {
    products = (0..<500).map { id in
      Product(
        id: id, title: "product number \(id), of a longer name",
        tags: ["tag \(id % 7)", "another tag that is longer \(id % 11)"],
        prices: ["single": Double(id) + 0.5, "dozen": Double(id) * 10])
    }
  }

  func product(_ id: Int) -> Product { products[id % products.count] }

  func enter(_ order: Order) -> Receipt {
    number += 1
    if orders.count == 1000 { orders.removeAll(keepingCapacity: true) }
    orders.append(order)
    if let ordersPerLeak, number % ordersPerLeak == 0 { _ = Basket(order) }
    let product = product(order.product)
    let total = product.prices["single", default: 0] * Double(order.quantity)
    return Receipt(
      number: number, total: total, lines: ["\(order.quantity) × \(product.title)", "for \(order.customer)"])
  }
}

@main struct ShopServer {
  static func main() async throws {
    var logger = Logger(label: "shop")
    logger.logLevel = .error
    let shop = Shop()
    let router = Router()
    router.get("products/:id") { _, context in await shop.product(try context.parameters.require("id", as: Int.self)) }
    router.post("orders") { request, context in
      await shop.enter(try await request.decode(as: Order.self, context: context))
    }
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        print("port \(channel.localAddress?.port ?? 0)")
        fflush(nil)
      },
      logger: logger)
    try await application.runService()
  }
}
