// A value for each node.

import TraceReading

/// An array of fixed length, with memory outside Swift's object heap. Public members only read. An algorithm does not
/// change its results after it has finished, so any thread may read them.
package final class NodeTable<Element: BitwiseCopyable>: @unchecked Sendable {
  package let start: UnsafeMutablePointer<Element>
  package let count: Int

  /// Makes a table of uninitialised elements. The caller must write every element before any element is read.
  init(uninitialized count: Int) {
    self.count = count
    start = TableMemory.allocate(Element.self, capacity: count)
  }

  /// Takes over the elements of a stack, and their memory.
  init(taking stack: consuming GrowingStack<Element>) { (start, count) = stack.release() }

  /// Makes a table of zeros. Only pages with written elements take memory.
  init(zeroed count: Int) {
    self.count = count
    start = TableMemory.allocateZeroed(Element.self, capacity: count)
  }

  package convenience init(repeating value: Element, count: Int) {
    self.init(uninitialized: count)
    start.initialize(repeating: value, count: count)
  }

  deinit { TableMemory.deallocate(start) }

  /// The value at an index. Traps unless the index is below `count`. Constant time.
  package subscript(_ index: UInt32) -> Element {
    @inline(__always) get {
      precondition(Int(index) < count, "no such node")
      return start[Int(index)]
    }
  }

  /// A copy of all values. O(count).
  package var all: [Element] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
