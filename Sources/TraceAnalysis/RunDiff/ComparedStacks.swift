// The allocations of two builds by call stack: the data of a flame graph of their difference.

import TraceReading

/// The allocation sites of both builds under the new build's names. Joins sites with equal stacks and types, and adds
/// up the runs of a side. Memory is proportional to the sites and the frames of their stacks.
package struct ComparedStacks: Sendable {
  package struct Entry: Sendable {
    /// Indices into `frames`, outermost first.
    package var frames: [Int]
    package var type: String
    package var old = SiteTotal()
    package var new = SiteTotal()
  }

  package private(set) var frames: [DiffFrame] = []
  package private(set) var entries: [Entry] = []
  /// The amount of work of each side, by runs or by the comparison's unit of work. Figures divided by work are
  /// comparable.
  package let work: (old: Double, new: Double)
  /// Whether retains were recorded on both sides.
  package let hasRetains: Bool

  private var frameNumbers: [String: Int] = [:]
  private var entryNumbers: [Key: Int] = [:]

  private struct Key: Hashable {
    var frames: [Int]
    var type: String
  }

  /// Joins the sites of the compared runs. `report`: the report on these runs.
  package init(old: [RunDigest], new: [RunDigest], _ report: DiffReport) {
    func amount(_ side: DiffSide) -> Double { side.runs.reduce(0) { $0 + $1.work } }
    // Scale the work so that the new side's amount is its number of runs.
    let runs = Double(max(1, new.count))
    let newWork = max(amount(report.new), .leastNormalMagnitude)
    work = (amount(report.old) / newWork * runs, runs)
    hasRetains = (old + new).allSatisfy(\.recordsReferenceCounts)
    for run in new { add(run, \.new) { $0 } }
    var names = CurrentNames(report.renames, known: Set(frameNumbers.keys).union(entries.lazy.map(\.type)))
    for run in old { add(run, \.old) { names.name($0) } }
  }

  /// `current`: maps a name to its counterpart in the new build.
  private mutating func add(
    _ run: RunDigest, _ side: WritableKeyPath<Entry, SiteTotal>, _ current: (String) -> String
  ) {
    var types: [String: String] = [:]
    for site in run.sites {
      let stack = run.frames(of: site).reversed().map { frame in
        var frame = frame
        frame.stableName = current(frame.stableName)
        return number(of: frame)
      }
      if types[site.type] == nil { types[site.type] = current(site.type) }
      let key = Key(frames: stack, type: types[site.type] ?? site.type)
      let index = entryNumbers[key] ?? entries.count
      if index == entries.count {
        entryNumbers[key] = index
        entries.append(Entry(frames: stack, type: key.type))
      }
      entries[index][keyPath: side] += site.total
    }
  }

  private mutating func number(of frame: DiffFrame) -> Int {
    if let known = frameNumbers[frame.stableName] { return known }
    frameNumbers[frame.stableName] = frames.count
    frames.append(frame)
    return frames.count - 1
  }

  /// Maps old names to their current names.
  private struct CurrentNames {
    private let renames: [DiffRename]
    private let known: Set<String>
    private var index = RenameIndex()
    private var found: [String: String] = [:]

    /// `known`: names of the new build, which are not replaced.
    init(_ renames: [DiffRename], known: Set<String>) {
      (self.renames, self.known) = (renames, known)
      for (number, rename) in renames.enumerated() { index.insert(number, rename.old) }
    }

    mutating func name(_ old: String) -> String {
      if known.contains(old) { return old }
      if let current = found[old] { return current }
      var text = old
      var first = 0
      while let next = index.candidates(in: text, from: first).first {
        text = text.replacingName(renames[next].old, with: renames[next].new)
        first = next + 1
      }
      found[old] = text
      return text
    }
  }
}
