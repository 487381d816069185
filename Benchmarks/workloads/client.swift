// Measures the time of calls of the LeakTrace library within one process.
// Usage: client COUNT. Prints a line "CALL NANOSECONDS" for each kind of call, with the mean of COUNT calls.

import LeakTrace
import Glibc

final class Node {
  var value: Int
  init(_ value: Int) { self.value = value }
}

@inline(never) func keep(_ value: Int) {}
// Not inlined: the compiler would allocate an object that does not escape on the stack.
@inline(never) func makeNode(_ value: Int) -> Unmanaged<Node> { Unmanaged.passRetained(Node(value)) }
@inline(never) func dropNode(_ node: Unmanaged<Node>) { node.release() }
func useNode(_ value: Int) { dropNode(makeNode(value)) }

func measure(_ name: String, _ count: Int, _ body: (Int) -> Void) {
  let clock = ContinuousClock()
  let duration = clock.measure { for index in 0..<count { body(index) } }
  let (seconds, attoseconds) = duration.components
  print(name, (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count))
}

let count = Int(CommandLine.arguments[1])!
let object = Node(0)
measure("nothing", count) { keep($0) }
measure("isTracing", count) { keep(LeakTrace.isTracing ? 1 : $0) }
measure("scope", count) { index in LeakTrace.scope("scope") { keep(index) } }
measure("begin-end", count) { index in
  let scope = LeakTrace.begin("scope")
  keep(index)
  scope.end()
}
measure("mark", count) { index in
  LeakTrace.mark("mark")
  keep(index)
}
measure("object", count) { useNode($0) }
measure("object-expected", count) { index in
  let node = makeNode(index)
  node._withUnsafeGuaranteedRef { LeakTrace.expectDeallocated($0, within: .seconds(3600), "expected") }
  dropNode(node)
}
// From here on, every free must check for a pending expectation.
LeakTrace.expectDeallocated(object, within: .seconds(3600), "pending")
measure("object-while-pending", count) { useNode($0) }
keep(object.value)
