// Tables of rows that grow with new sites and threads.

/// Plain values by number. The table grows by adding segments of memory, so a row never moves. Memory is proportional
/// to the rows.
///
/// Copies share the rows, as with a class. The rows are valid as long as their owner. For one thread at a time.
struct RowTable<Row: BitwiseCopyable>: BitwiseCopyable {
  private struct Header: BitwiseCopyable {
    var segmentCount = 0
    var count = 0
    var blank: Row
  }

  private let header: UnsafeMutablePointer<Header>
  /// The address of each segment, with room for all segments that 2^32 rows need.
  private let segments: UnsafeMutablePointer<UnsafeMutablePointer<Row>>

  /// log2 of the rows in a segment: enough for 4 MiB or more. Unused parts of a segment take no memory.
  @inline(__always)
  private static var segmentBits: Int { 64 - ((4 << 20) / MemoryLayout<Row>.stride - 1).leadingZeroBitCount }

  private static var segmentLimit: Int { 1 << (32 - segmentBits) }

  /// Makes a table of `count` rows. New rows equal `blank`.
  init(blank: Row, count: Int = 0, ownedBy owner: TableOwner) {
    let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    header.initialize(to: Header(blank: blank))
    // Pages of the array that are not used take no memory.
    let segments = TableMemory.allocateZeroed(UnsafeMutablePointer<Row>.self, capacity: Self.segmentLimit)
    owner.own {
      for index in 0..<header.pointee.segmentCount {
        TableMemory.deallocatePart(segments[index], capacity: 1 << Self.segmentBits)
      }
      TableMemory.deallocate(segments)
      header.deallocate()
    }
    self.header = header
    self.segments = segments
    if count > 0 { grow(count) }
  }

  @inline(__always)
  var count: Int { header.pointee.count }

  /// The row at an index below `count`, valid as long as the table.
  @inline(__always)
  subscript(_ index: Int) -> UnsafeMutablePointer<Row> {
    assert(index < count)
    return segments[index &>> Self.segmentBits] + (index & (1 &<< Self.segmentBits &- 1))
  }

  /// Adds rows until there is one at `index`. Amortised constant time.
  @inline(__always)
  func reach(_ index: Int) {
    if index >= header.pointee.count { grow(index + 1) }
  }

  @inline(never)
  private func grow(_ newCount: Int) {
    while newCount > header.pointee.segmentCount << Self.segmentBits { addSegment() }
    for index in count..<newCount {
      (segments[index >> Self.segmentBits] + (index & (1 << Self.segmentBits - 1))).initialize(to: header.pointee.blank)
    }
    header.pointee.count = newCount
  }

  private func addSegment() {
    let number = header.pointee.segmentCount
    precondition(number < Self.segmentLimit, "more rows than numbers of rows")
    segments[number] = TableMemory.allocatePart(
      Row.self, capacity: 1 << Self.segmentBits, isSparse: number == 0)
    header.pointee.segmentCount = number + 1
  }

  var all: [Row] { (0..<count).map { self[$0].pointee } }
}
