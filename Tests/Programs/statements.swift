// A shop that states when its objects must be gone. Every fourth order outlives its checkout, two screens outlive their closing, and one goes late.

import Glibc
import LeakTrace

final class Order {
  let number: Int
  let items: [String]
  init(number: Int) {
    self.number = number
    items = (0..<3).map { "item \($0) of order number \(number)" }
  }
}

final class Screen {
  let title: String
  init(title: String) { self.title = title }
}

enum Archive {
  nonisolated(unsafe) static var orders: [Int: Order] = [:]
}

enum Windows {
  nonisolated(unsafe) static var closed: [Screen] = []
}

final class Receipt {
  let order: Int
  init(order: Int) { self.order = order }
}

actor Printer {
  var printed: [Receipt] = []
  func add(_ order: Int, keeps: Bool) async {
    let receipt = Receipt(order: order)
    await Task.yield()
    if keeps { printed.append(receipt) }
  }
}

@inline(never) func checkOut(_ number: Int) {
  LeakTrace.scope("checkout", grace: .zero) {
    let order = Order(number: number)
    if number % 4 == 3 { Archive.orders[number] = order }
  }
}

@inline(never) func open(_ title: String) -> Screen { Screen(title: title) }

@inline(never) func close(_ screen: Screen, within: Duration) { LeakTrace.expectDeallocated(screen, within: within, "screen closed") }

/// Opens a screen and closes it; if `keeps`, the list of closed screens keeps it.
@inline(never) func visit(_ title: String, within: Duration, keeps: Bool) {
  let screen = open(title)
  close(screen, within: within)
  if keeps { Windows.closed.append(screen) }
}

@main struct Shop {
  static func main() async {
    let keeps = CommandLine.arguments.contains("leak")
    for number in 0..<40 { keeps ? checkOut(number) : LeakTrace.scope("checkout", grace: .zero) { _ = Order(number: number).items.count } }
    LeakTrace.mark("after checkouts")
    for number in 0..<10 { visit("screen \(number)", within: .seconds(60), keeps: false) }
    if keeps {
      // A busy machine may take its time between them, so that the image of the first deadline does not show all three.
      let pause: UInt32 = CommandLine.arguments.contains("apart") ? 80_000 : 0
      visit("help", within: .milliseconds(50), keeps: true)
      usleep(pause)
      visit("about", within: .milliseconds(50), keeps: true)
      usleep(pause)
      visit("late", within: .milliseconds(50), keeps: true)
      // Until the last deadline has passed.
      usleep(60_000)
    }
    // Until the image is there that shows what should be gone.
    if CommandLine.arguments.count > 2 { while access(CommandLine.arguments[2], F_OK) != 0 { usleep(1000) } }
    if keeps { Windows.closed.removeLast() }
    let printer = Printer()
    for number in 0..<12 { await LeakTrace.scope("print", grace: .zero) { await printer.add(number, keeps: keeps && number % 2 == 1) } }
    LeakTrace.mark("after printing")
    let last = open("still open")
    close(last, within: .seconds(3600))
    LeakTrace.snapshot("end")
    withExtendedLifetime((last, printer)) {}
  }
}
