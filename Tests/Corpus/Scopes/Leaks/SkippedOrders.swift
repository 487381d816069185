// Cancelled orders stay in a linked list. Each search for the next order walks over them.

private final class KitchenOrder {
  let number: Int
  var isCancelled = false
  var next: KitchenOrder?
  weak var previous: KitchenOrder?
  init(number: Int) { self.number = number }
}

private final class Kitchen {
  nonisolated(unsafe) static let shared = Kitchen()
  private var first: KitchenOrder?
  private weak var last: KitchenOrder?
  private var byNumber: [Int: KitchenOrder] = [:]

  func take(_ number: Int) {
    let order = KitchenOrder(number: number)
    byNumber[number] = order
    if let last {
      last.next = order
      order.previous = last
    } else {
      first = order
    }
    last = order
  }

  func cancel(_ number: Int, unlinking: Bool) {
    guard let order = byNumber.removeValue(forKey: number) else { return }
    order.isCancelled = true
    if unlinking { unlink(order) }
  }

  func cook() {
    var current = first
    while let order = current {
      if !order.isCancelled {
        note(order.number)
        byNumber[order.number] = nil
        unlink(order)
        return
      }
      current = order.next
    }
  }

  private func unlink(_ order: KitchenOrder) {
    let after = order.next
    if let before = order.previous { before.next = after } else { first = after }
    after?.previous = order.previous
    if last === order { last = order.previous }
    order.next = nil
  }
}

enum SkippedOrders: FaultyProgram {
  static func faulty() { for minute in 0..<400 { serve(minute, unlinking: false) } }
  static func correct() { for minute in 0..<400 { serve(minute, unlinking: true) } }

  @inline(never) private static func serve(_ minute: Int, unlinking: Bool) {
    Kitchen.shared.take(2 * minute)
    Kitchen.shared.take(2 * minute + 1)
    if minute % 4 == 0 { Kitchen.shared.cancel(2 * minute, unlinking: unlinking) }
    // A few orders wait.
    if minute > 3 { for _ in 0..<(minute % 4 == 0 ? 1 : 2) { Kitchen.shared.cook() } }
  }
}
