final class Order {
  var paid: (() -> Void)?
  var items: [String] = []
}

@main enum App {
  static func main() { for number in 0..<10 { placeOrder(number: number, currency: 978) } }

  @inline(never) static func placeOrder(number: Int, currency: Int16) {
    let order = Order()
    order.items.append("item with the number \(number)")
    order.paid = { note(order.items.count) }
    order.paid?()
  }
}
