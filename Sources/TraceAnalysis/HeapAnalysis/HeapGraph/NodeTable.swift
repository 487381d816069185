// A value for each node.

import TraceReading

/// An array of fixed length whose memory lies outside Swift's object heap. A reference: copies share their values.
/// Public parts only read; a finished algorithm's results do not change any more, so any thread may read them.
package final class NodeTable<Element: BitwiseCopyable>: @unchecked Sendable {
  package let start: UnsafeMutablePointer<Element>
  package let count: Int

  /// Uninitialised: the caller writes every element before another reads one.
  init(uninitialized count: Int) {
    self.count = count
    start = TableMemory.allocate(Element.self, capacity: count)
  }

  /// Takes over the elements of a stack, and their memory.
  init(taking stack: consuming GrowingStack<Element>) { (start, count) = stack.release() }

  /// All elements are 0. Only those that are written take memory, by pages.
  init(zeroed count: Int) {
    self.count = count
    start = TableMemory.allocateZeroed(Element.self, capacity: count)
  }

  package convenience init(repeating value: Element, count: Int) {
    self.init(uninitialized: count)
    start.initialize(repeating: value, count: count)
  }

  deinit { TableMemory.deallocate(start) }

  /// The value at an index below `count`; traps at others. Constant time.
  package subscript(_ index: UInt32) -> Element {
    @inline(__always) get {
      precondition(Int(index) < count, "no such node")
      return start[Int(index)]
    }
  }

  /// A copy of all values. O(count).
  package var all: [Element] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
