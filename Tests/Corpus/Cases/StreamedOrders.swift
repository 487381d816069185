// Orders come through a stream, which stays open: the slots of its buffer keep the addresses of those that were taken out, and nothing more.

private final class PlacedOrder: @unchecked Sendable {
  let number: Int
  private var confirm: (() -> Void)?
  private var confirmations = 0

  init(number: Int) { self.number = number }

  func prepare() { confirm = { self.confirmations += self.number } }
  func prepareWeakly() { confirm = { [weak self] in self?.confirmations += 1 } }
  func ship() { confirm?() }
}

private final class OrderDesk: @unchecked Sendable {
  let orders: AsyncStream<PlacedOrder>
  private let incoming: AsyncStream<PlacedOrder>.Continuation

  init() { (orders, incoming) = AsyncStream<PlacedOrder>.makeStream() }

  @inline(never) func place(_ number: Int) { incoming.yield(PlacedOrder(number: number)) }
}

enum StreamedOrders: FaultyProgram {
  private static let desk = OrderDesk()

  static func faulty() { take { $0.prepare() } }
  static func correct() { take { $0.prepareWeakly() } }

  private static func take(_ prepare: @escaping @Sendable (PlacedOrder) -> Void) {
    for number in 1...6 { desk.place(number) }
    waitFor {
      var taken = 0
      for await order in desk.orders {
        prepare(order)
        order.ship()
        taken += 1
        if taken == 6 { break }
      }
      note(taken)
    }
  }
}
