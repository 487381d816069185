// Keeps sessions in memory of the C++ operator new, as a C++ library does that holds on to what Swift gives it; gives
// some such memory back; and leaks a few objects of its own.

import Foundation

@_silgen_name("_Znwm") func operatorNew(_ size: Int) -> UnsafeMutableRawPointer
@_silgen_name("_Znam") func operatorNewArray(_ size: Int) -> UnsafeMutableRawPointer
@_silgen_name("_ZdlPv") func operatorDelete(_ block: UnsafeMutableRawPointer)
@_silgen_name("_ZdlPvm") func operatorDeleteSized(_ block: UnsafeMutableRawPointer, _ size: Int)
@_silgen_name("_ZdaPv") func operatorDeleteArray(_ block: UnsafeMutableRawPointer)

final class Session {
  var name = "a session with a name that is kept on the heap"
}

final class Lost {
  var name = "an object with a name that is kept on the heap"
}

struct Node {
  var object: UnsafeMutableRawPointer
  var next: UnsafeMutableRawPointer?
}

nonisolated(unsafe) var first: UnsafeMutableRawPointer?

@inline(never) func keepSessions() {
  for _ in 0..<3_000 {
    let node = operatorNew(MemoryLayout<Node>.size)
    node.bindMemory(to: Node.self, capacity: 1).initialize(
      to: Node(object: Unmanaged.passRetained(Session()).toOpaque(), next: first))
    first = node
  }
}

/// A checksum of addresses, so that the compiler cannot remove the allocations. It refers to none of the blocks.
nonisolated(unsafe) var sum = 1

func noted(_ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
  sum = sum &* 31 ^ Int(bitPattern: block)
  return block
}

@inline(never) func giveBack() {
  for number in 0..<1_000 {
    operatorDelete(noted(operatorNew(16 + number % 50)))
    operatorDeleteSized(noted(operatorNew(64)), 64)
    operatorDeleteArray(noted(operatorNewArray(200)))
  }
}

@inline(never) func leak() {
  for _ in 0..<40 { _ = noted(Unmanaged.passRetained(Lost()).toOpaque()) }
}

keepSessions()
giveBack()
leak()
