// Allocation sites as rows of a database.

import TraceExports
import TraceReading

/// The rows of a profile's sites. The tables have no addresses: sites that differ only in addresses are one row.
///
/// A recursion that branches has a separate stack for nearly every path through it, and few of these stacks differ by
/// line.
struct SiteRows {
  /// Sites with the same type and the same lines on their stacks.
  struct Row {
    /// Number in `types`.
    var type: Int
    /// Number in `stacks`.
    var stack: Int
    /// The recorder stopped before the outermost frame.
    var isCut: Bool
    var total = SiteTotal()
    var leaked = BlockSum()
  }

  /// Names of the types.
  private(set) var types: [String] = []
  /// Distinct lines.
  private(set) var frames: [StackProfile.Line] = []
  /// Numbers of frames, innermost first.
  private(set) var stacks: [[Int]] = []
  private(set) var rows: [Row] = []
  /// The row of each site by the site's number.
  private(set) var rowOfSite: [Int] = []

  private struct Key: Hashable {
    var type: Int
    var stack: Int
    var isCut: Bool
  }

  /// Linear in the frames of all sites. Memory: a number for each site, and for each frame of each distinct stack.
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

  /// The numbers of all sites in the order of the rows; sites of one row are adjacent.
  var sitesByRow: [Int] { rowOfSite.indices.sorted { (rowOfSite[$0], $0) < (rowOfSite[$1], $1) } }
}

/// Numbers distinct values in order of appearance.
private struct Numbers<Value: Hashable> {
  private var numbers: [Value: Int] = [:]
  private(set) var values: [Value] = []

  /// The value's number; the next one if it is new. Constant time, amortised.
  mutating func number(of value: Value) -> Int {
    if let known = numbers[value] { return known }
    numbers[value] = values.count
    values.append(value)
    return values.count - 1
  }
}
