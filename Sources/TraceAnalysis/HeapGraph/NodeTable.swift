// A value for each node.

/// An array of fixed length whose memory lies outside Swift's object heap. A reference: copies share their values. Public parts only read;
/// what a finished algorithm hands out is not changed any more, so any thread may read it.
public final class NodeTable<Element: BitwiseCopyable>: @unchecked Sendable {
  let start: UnsafeMutablePointer<Element>
  public let count: Int

  /// Uninitialised: whoever makes it writes every element before another reads one.
  init(uninitialized count: Int) {
    self.count = count
    start = TableMemory.allocate(Element.self, capacity: count)
  }

  convenience init(repeating value: Element, count: Int) {
    self.init(uninitialized: count)
    start.initialize(repeating: value, count: count)
  }

  deinit { TableMemory.deallocate(start) }

  /// The value at an index below `count`; traps at others. Constant time.
  public subscript(_ index: UInt32) -> Element {
    @inline(__always) get {
      precondition(Int(index) < count, "no such node")
      return start[Int(index)]
    }
  }

  /// A copy of all values. O(count).
  public var all: [Element] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
