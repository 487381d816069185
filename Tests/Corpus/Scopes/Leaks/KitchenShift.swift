// A function keeps a kitchen in a local variable for its whole work, and lets go of it when it returns. The log of the
// kitchen grows with each dish. In the correct program it has a limit.
import Dispatch

private final class Dish {
  let table: Int
  init(table: Int) { self.table = table }
}

private final class Kitchen {
  nonisolated(unsafe) static weak var current: Kitchen?
  private let limit: Int
  private var served: [Dish] = []
  private var open: [Int: Dish] = [:]

  init(limit: Int) { self.limit = limit }

  @inline(never) func order(_ table: Int) { open[table % 12] = Dish(table: table) }

  @inline(never) func serve(_ table: Int) {
    guard let dish = open.removeValue(forKey: table % 12) else { return }
    served.append(dish)
    if served.count > limit { served.removeFirst(served.count - limit) }
  }

  var last: Int { served.last?.table ?? 0 }
}

enum KitchenShift: FaultyProgram {
  static func faulty() { note(work(limit: .max)) }
  static func correct() { note(work(limit: 30)) }

  @inline(never) private static func work(limit: Int) -> Int {
    // In a process with two threads, each event has its own time.
    let hasBegun = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { hasBegun.signal() }
    hasBegun.wait()
    let kitchen = Kitchen(limit: limit)
    Kitchen.current = kitchen
    for table in 0..<600 {
      kitchen.order(table)
      kitchen.serve(table)
    }
    return kitchen.last
  }
}
