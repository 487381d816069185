// The sites of one side's runs, in one list.

import TraceReading
import TraceSymbolication

/// Merges sites that are equal by name, with a total for each run.
struct ComparedSites {
  struct Entry {
    /// The allocated type or the allocating function, the operation, and the functions on the stack, innermost first.
    var parts: [Int32]
    /// One total for each run.
    var totals: [SiteTotal]
    /// The source of the frames: the index of a run, and the index of the site in that run.
    var run: Int
    var site: Int
    var isOfProgram: Bool

    var type: Int32 { parts[0] }
    var operation: Int32 { parts[1] }
    var functions: ArraySlice<Int32> { parts[2...] }

    /// The median of the runs' numbers of allocated blocks.
    var amount: Double { Spread(totals.map { Double($0.allocatedBlocks) }).median }

    var item: NamedItem {
      NamedItem(parts: { name in (parts.map(name), parts) }, amount: amount, isOfProgram: isOfProgram)
    }
  }

  private(set) var entries: [Entry] = []

  init(_ runs: [RunDigest], _ vocabulary: Vocabulary, side: Vocabulary.Side) {
    var places: [[Int32]: Int] = [:]
    for (run, digest) in runs.enumerated() {
      let frames = digest.frames.map { vocabulary.number(of: $0.stableName, on: side) }
      var stacks: [Int32: [Int32]] = [:]
      for (index, site) in digest.sites.enumerated() {
        var parts = [
          vocabulary.number(of: StableName.of(site.type), on: side), vocabulary.number(of: site.operation, on: side),
        ]
        let callers = stacks[site.stack] ?? Self.functions(site.stack, digest, frames)
        stacks[site.stack] = callers
        parts += Self.functions(innermost: site.innermost >= 0 ? frames[Int(site.innermost)] : nil, callers)
        if let place = places[parts] {
          entries[place].totals[run] += site.total
        } else {
          var totals = Array(repeating: SiteTotal(), count: runs.count)
          totals[run] = site.total
          places[parts] = entries.count
          let isOfProgram = site.innermost >= 0 && !digest.frames[Int(site.innermost)].isPlatform
          entries.append(Entry(parts: parts, totals: totals, run: run, site: index, isOfProgram: isOfProgram))
        }
      }
    }
  }

  /// Returns the functions on a site's stack, innermost first.
  static func functions(innermost: Int32?, _ callers: [Int32]) -> [Int32] {
    guard let innermost, callers.first != innermost else { return callers }
    return [innermost] + callers
  }

  /// Returns the functions of a digest's stack. `frames`: for each frame of the digest, the number of its name.
  static func functions(_ stack: Int32, _ digest: RunDigest, _ frames: [Int32]) -> [Int32] {
    var result: [Int32] = []
    var node = stack
    while node >= 0 {
      result.append(frames[Int(digest.stacks[Int(node)].frame)])
      node = digest.stacks[Int(node)].caller
    }
    return result
  }
}
