import Glibc
import LeakTrace

private final class Panel {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) private var open: [Panel] = []

@inline(never) func present(_ number: Int) {
  let panel = Panel(number)
  if number % 3 == 0 { open.append(panel) }
  LeakTrace.expectDeallocated(panel, within: .milliseconds(5), "panel closed")
  usleep(2000)
}
