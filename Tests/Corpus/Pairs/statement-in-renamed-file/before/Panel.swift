import LeakTrace

private final class Panel {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) private var open: [Panel] = []

@inline(never) func present(_ number: Int) {
  let panel = Panel(number)
  if number == 4 { open.append(panel) }
  LeakTrace.expectDeallocated(panel, within: .milliseconds(300), "panel closed")
}
