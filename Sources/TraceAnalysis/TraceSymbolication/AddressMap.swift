// Finds the innermost of many nested address ranges that covers an address.

/// A fixed set of address ranges, each with a value. If several ranges cover an address, the range with the
/// highest start counts. Among ranges with the same start, the shortest one counts. Among equal ranges, the last one in
/// the list counts.
///
/// The initialiser is O(n log n), and resolves all overlaps. A look-up is O(log n).
package struct AddressMap: Sendable {
  package struct Entry {
    var start: UInt64
    var end: UInt64
    var value: Int

    package init(start: UInt64, end: UInt64, value: Int) { (self.start, self.end, self.value) = (start, end, value) }
  }

  private var starts: [UInt64] = []
  private var ends: [UInt64] = []
  private var values: [Int] = []

  var isEmpty: Bool { starts.isEmpty }

  /// Disjoint ranges in order of address, each with the value that counts there.
  package var parts: [(range: Range<UInt64>, value: Int)] {
    values.indices.map { (starts[$0]..<ends[$0], values[$0]) }
  }

  package init(_ entries: [Entry]) {
    // Visit the ranges in order of their starts. The stack `open` has the ranges that cover the current position.
    let order = entries.indices.filter { entries[$0].start < entries[$0].end }.sorted {
      let (a, b) = (entries[$0], entries[$1])
      if a.start != b.start { return a.start < b.start }
      if a.end != b.end { return a.end > b.end }
      return $0 < $1
    }
    starts.reserveCapacity(order.count)
    ends.reserveCapacity(order.count)
    values.reserveCapacity(order.count)
    var open: [Entry] = []
    var position: UInt64 = 0
    for index in order {
      let entry = entries[index]
      close(&open, upTo: entry.start, position: &position)
      open.append(entry)
      position = entry.start
    }
    close(&open, upTo: .max, position: &position)
  }

  private mutating func close(_ open: inout [Entry], upTo limit: UInt64, position: inout UInt64) {
    while let top = open.last, position < limit {
      let end = min(top.end, limit)
      if position < end {
        starts.append(position)
        ends.append(end)
        values.append(top.value)
        position = end
      }
      if top.end > limit { return }
      open.removeLast()
    }
    while let top = open.last, top.end <= limit { open.removeLast() }
  }

  /// Returns the value of the innermost range that covers `address`; nil if there is none.
  package func value(at address: UInt64) -> Int? {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < ends[low - 1] else { return nil }
    return values[low - 1]
  }
}
