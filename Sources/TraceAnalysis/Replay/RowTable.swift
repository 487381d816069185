// Rows of figures that grow as new sites and threads turn up.

/// An array without the checks that a Swift array makes at each change: the replay changes several rows with every event.
/// A reference: copies of a struct that holds one share its rows. For one thread at a time.
final class RowTable<Row: BitwiseCopyable> {
  private(set) var start: UnsafeMutablePointer<Row>
  private(set) var count: Int
  private var capacity: Int
  private let blank: Row

  /// New rows are `blank`.
  init(blank: Row, count: Int = 0) {
    self.blank = blank
    self.count = count
    capacity = max(16, count)
    start = TableMemory.allocate(Row.self, capacity: capacity)
    start.initialize(repeating: blank, count: capacity)
  }

  deinit { TableMemory.deallocate(start) }

  /// The row at an index below `count`, valid until the next `grow`.
  @inline(__always)
  subscript(_ index: Int) -> UnsafeMutablePointer<Row> {
    assert(index < count)
    return start + index
  }

  /// Makes sure that there is a row at `index`. Amortised constant time.
  @inline(__always)
  func reach(_ index: Int) {
    if index >= count { grow(index + 1) }
  }

  @inline(never)
  private func grow(_ newCount: Int) {
    if newCount > capacity {
      let newCapacity = max(newCount, capacity * 2)
      let larger = TableMemory.allocate(Row.self, capacity: newCapacity)
      larger.update(from: start, count: count)
      (larger + count).initialize(repeating: blank, count: newCapacity - count)
      TableMemory.deallocate(start)
      start = larger
      capacity = newCapacity
    }
    count = newCount
  }

  var all: [Row] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
