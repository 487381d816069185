final class Order {
  var paid: (() -> Void)?
  var items: [String] = []
}

@main enum App {
  static func main() { for number in 0..<10 { checkout(number) } }

  @inline(never) static func checkout(_ number: Int) {
    let order = Order()
    order.items.append("item with the number \(number)")
    order.paid = { note(order.items.count) }
    order.paid?()
  }
}
