// Finds the parts of a process's memory that were written to.

/// The written parts of a process's mappings. The parts of a mapping are determined when they are first needed, and
/// cached.
///
/// For one thread at a time.
final class WrittenMemory {
  private let process: any ProcessMemory
  /// The parts of a mapping, by its index in the list of mappings.
  private var parts: [Int: [Range<UInt64>]] = [:]

  init(_ process: any ProcessMemory) { self.process = process }

  /// Returns the first written part in [start, end), clamped to this range; nil if there is none. A part never extends
  /// beyond its mapping. O(log n) in the mappings and in the parts of a mapping, once its parts are known.
  func next(from start: UInt64, to end: UInt64) -> Range<UInt64>? {
    guard start < end else { return nil }
    let mappings = process.mappings
    var place = Self.firstPlace(in: mappings.count) { mappings[$0].range.upperBound > start }
    while place < mappings.count, mappings[place].range.lowerBound < end {
      let parts = parts(of: place, mappings[place].range)
      let part = Self.firstPlace(in: parts.count) { parts[$0].upperBound > start }
      if part < parts.count {
        guard parts[part].lowerBound < end else { return nil }
        return parts[part].clamped(to: start..<end)
      }
      place += 1
    }
    return nil
  }

  private func parts(of place: Int, _ range: Range<UInt64>) -> [Range<UInt64>] {
    if let known = parts[place] { return known }
    let found = process.writtenRanges(in: range)
    parts[place] = found
    return found
  }

  /// Returns the first index below `count` that satisfies `holds`, or `count`. All later indices must satisfy `holds`
  /// too.
  private static func firstPlace(in count: Int, where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
