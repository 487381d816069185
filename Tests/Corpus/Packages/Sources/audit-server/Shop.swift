// Products, kept in a cache, and orders, which are read, counted and forgotten.
import Foundation
import Hummingbird

final class Product: Sendable {
  let id: Int
  let title: String
  let tags: [String]

  init(id: Int) {
    self.id = id
    title = "product number \(id)"
    tags = (0..<4).map { "tag \($0 * id % 17)" }
  }
}

/// The products that were asked for last, 64 of them at most.
actor ProductCache {
  private var products: [Int: Product] = [:]
  /// Oldest first.
  private var order: [Int] = []

  func product(_ id: Int) -> Product {
    if let product = products[id] { return product }
    let product = Product(id: id)
    products[id] = product
    order.append(id)
    if order.count > 64 { products[order.removeFirst()] = nil }
    return product
  }
}

struct ProductPage: ResponseEncodable {
  let id: Int
  let title: String
  let tags: [String]
}

struct OrderForm: Decodable {
  let product: Int
  let quantity: Int
  let customer: String
}

struct Receipt: ResponseEncodable {
  let number: Int
  let text: String
}

/// An order while it is worked on.
final class Order: Sendable {
  let number: Int
  let form: OrderForm
  let product: Product

  init(number: Int, form: OrderForm, product: Product) {
    self.number = number
    self.form = form
    self.product = product
  }

  var receipt: Receipt { Receipt(number: number, text: "\(form.quantity) × \(product.title) for \(form.customer)") }
}

actor OrderBook {
  private var count = 0
  /// What was sold, by product: a table that levels off.
  private var sold: [Int: Int] = [:]
  private var last: Order?

  func enter(_ form: OrderForm, of product: Product) -> Receipt {
    let order = Order(number: count, form: form, product: product)
    count += 1
    sold[form.product, default: 0] += form.quantity
    last = order
    return order.receipt
  }
}
