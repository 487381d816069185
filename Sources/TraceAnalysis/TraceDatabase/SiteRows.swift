// Allocation sites as rows of a database.

import TraceExports
import TraceReading

/// The rows of a profile's sites. The tables have no addresses, so sites that differ only in addresses become one row.
///
/// This matters for a recursion that branches: nearly every path through it has its own stack, but few of these stacks
/// differ in their lines.
struct SiteRows {
  /// The sites with the same type and the same lines on their stacks.
  struct Row {
    /// Index into `types`.
    var type: Int
    /// Index into `stacks`.
    var stack: Int
    /// True if the recorder cut the stack before the outermost frame.
    var isCut: Bool
    var total = SiteTotal()
    var leaked = BlockSum()
  }

  /// The names of the types.
  private(set) var types: [String] = []
  /// The distinct lines.
  private(set) var frames: [StackProfile.Line] = []
  /// The stacks, as indices into `frames`, innermost first.
  private(set) var stacks: [[Int]] = []
  private(set) var rows: [Row] = []
  /// Indices into `rows`, by the site's number.
  private(set) var rowOfSite: [Int] = []

  private struct Key: Hashable {
    var type: Int
    var stack: Int
    var isCut: Bool
  }

  /// Linear in the frames of all sites. Memory: one number for each site, and one for each frame of each distinct
  /// stack.
  init(_ profile: StackProfile) {
    var typeNumbers = Numbers<String>()
    var frameNumbers = Numbers<StackProfile.Line>()
    var stackNumbers = Numbers<[Int]>()
    var rowNumbers = Numbers<Key>()
    let framesOfLocation = profile.locations.map { $0.lines.map { frameNumbers.number(of: $0) } }
    rowOfSite.reserveCapacity(profile.samples.count)
    for sample in profile.samples {
      let key = Key(
        type: typeNumbers.number(of: sample.type),
        stack: stackNumbers.number(of: sample.locations.flatMap { framesOfLocation[$0] }), isCut: sample.isCut)
      let number = rowNumbers.number(of: key)
      if number == rows.count { rows.append(Row(type: key.type, stack: key.stack, isCut: key.isCut)) }
      rows[number].total += sample.total
      rows[number].leaked.blocks += sample.leaked.blocks
      rows[number].leaked.bytes &+= sample.leaked.bytes
      rowOfSite.append(number)
    }
    (types, frames, stacks) = (typeNumbers.values, frameNumbers.values, stackNumbers.values)
  }

  /// The numbers of all sites in the order of the rows. The sites of one row are adjacent.
  var sitesByRow: [Int] { rowOfSite.indices.sorted { (rowOfSite[$0], $0) < (rowOfSite[$1], $1) } }
}

/// Numbers distinct values in order of appearance.
private struct Numbers<Value: Hashable> {
  private var numbers: [Value: Int] = [:]
  private(set) var values: [Value] = []

  /// Returns the value's number; a new value gets the next number. Amortized constant time.
  mutating func number(of value: Value) -> Int {
    if let known = numbers[value] { return known }
    numbers[value] = values.count
    values.append(value)
    return values.count - 1
  }
}
