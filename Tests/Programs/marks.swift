// Marks its work: scopes in threads and tasks, nested, overlapping and ended twice; generations; texts of any length.

import Glibc
import LeakTrace

final class Basket {}

struct Failure: Error {}

@inline(never) func make() -> Basket { Basket() }

actor Shop {
  var basket: Basket?
  /// Hops to the actor and back.
  func fill() async {
    await Task.yield()
    basket = make()
  }
}

@main struct Marks {
  static func main() async throws {
    let value = LeakTrace.scope("outer") { () -> Int in
      LeakTrace.scope("inner", grace: .milliseconds(1500)) { _ = make() }
      return 3
    }
    precondition(value == 3)
    do { try LeakTrace.scope("throws") { throw Failure() } } catch {}

    let first = LeakTrace.begin("first"), second = LeakTrace.begin("second")
    first.end()
    second.end()
    second.end()

    LeakTrace.mark("generation 2")
    LeakTrace.mark(String(repeating: "ä", count: 200), file: "")
    LeakTrace.mark("")

    let shop = Shop()
    await LeakTrace.scope("async") {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { await LeakTrace.scope("child") { await shop.fill() } } }
      }
    }
    precondition(LeakTrace.isTracing == (CommandLine.arguments.count > 1))
    let number = LeakTrace.snapshot("warm")
    precondition((number != nil) == LeakTrace.isTracing)
    print("done")
  }
}
