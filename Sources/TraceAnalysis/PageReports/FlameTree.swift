// The data of a flame graph: call stacks joined from their outermost frames inwards.

import LeakDetection
import RunDiff
import TextWriting
import TraceExports
import TraceReading

/// A tree of frames. Each node has the figures of the stacks that end at it. Nodes that are too small to be visible are
/// joined.
struct FlameTree {
  /// A function, a type, or a placeholder for omitted nodes.
  struct Frame: Hashable {
    enum Kind: String { case own, library, type, omitted }
    var name: String
    var place: String
    var kind: Kind
    /// The file name of its library or program; empty if unknown.
    var image = ""
  }

  let measures: [ProfileMeasure]
  private(set) var frames: [Frame] = []
  /// The nodes. Their subjects are indices into `frames`. Each node has one figure for each measure. In a comparison,
  /// the new build's figures come first, then the old build's.
  private(set) var tree: WeightedTree

  var nodes: [WeightedTree.Node] { tree.nodes }
  var omittedCount: Int { tree.omittedCount }

  private var numbers: [Frame: Int] = [:]
  private var steps: [Step: Int] = [:]

  private struct Step: Hashable {
    var parent: Int
    var frame: Int
  }

  /// Maximum number of nodes on a page. More would not be visible, and would slow down the page.
  static let standardLimit = 20_000

  /// Makes the tree of a profile. O(frames of all samples).
  init(_ profile: StackProfile, limit: Int = Self.standardLimit) {
    self.init(profile.measures.filter { profile.sum($0) > 0 }, sides: 1)
    let functions = profile.functions.map { function in
      number(
        of: Frame(
          name: function.name, place: fileName(ofPath: function.file.isEmpty ? function.image : function.file),
          kind: function.kind == .user ? .own : .library, image: PlainText.escaped(fileName(ofPath: function.image))))
    }
    let cut = Frame(name: "…", place: "", kind: .omitted)
    for sample in profile.samples {
      let values = measures.map { $0.value(of: sample) }
      guard values.contains(where: { $0 > 0 }) else { continue }
      var node = sample.isCut ? child(of: -1, number(of: cut)) : -1
      for location in sample.locations.reversed() {
        for line in profile.locations[location].lines.reversed() { node = child(of: node, functions[line.function]) }
      }
      tree.add(values, to: child(of: node, number(of: Frame(name: sample.type, place: "", kind: .type))))
    }
    prune(to: limit)
  }

  /// Makes the tree of a comparison, whose figures are sums over the runs of each side. O(frames of all sites).
  init(_ stacks: ComparedStacks, limit: Int = Self.standardLimit) {
    let compared: [ProfileMeasure] = [
      .liveBytes, .liveBlocks, .peakBytes, .allocatedBytes, .allocatedBlocks, .temporaryBlocks,
    ]
    self.init(compared + (stacks.hasRetains ? [.retains] : []), sides: 2)
    let functions = stacks.frames.map { frame in
      number(
        of: Frame(
          name: PlainText.escaped(frame.function), place: PlainText.escaped(frame.file.map(fileName) ?? ""),
          kind: frame.isPlatform ? .library : .own))
    }
    for entry in stacks.entries {
      let values = [entry.new, entry.old].flatMap { total in measures.map { $0.value(of: total) } }
      guard values.contains(where: { $0 > 0 }) else { continue }
      var node = -1
      for frame in entry.frames { node = child(of: node, functions[frame]) }
      tree.add(
        values, to: child(of: node, number(of: Frame(name: PlainText.escaped(entry.type), place: "", kind: .type))))
    }
    prune(to: limit)
  }

  private init(_ measures: [ProfileMeasure], sides: Int) {
    self.measures = measures
    tree = WeightedTree(measureCount: measures.count * sides)
  }

  private mutating func prune(to limit: Int) {
    guard nodes.count > max(1, limit) else { return }
    tree.prune(to: max(1, limit), omitted: number(of: Frame(name: "(smaller ones)", place: "", kind: .omitted)))
  }

  private mutating func number(of frame: Frame) -> Int {
    if let known = numbers[frame] { return known }
    numbers[frame] = frames.count
    frames.append(frame)
    return frames.count - 1
  }

  private mutating func child(of parent: Int, _ frame: Int) -> Int {
    let step = Step(parent: parent, frame: frame)
    if let known = steps[step] { return known }
    let node = tree.append(parent: parent, subject: frame)
    steps[step] = node
    return node
  }
}
