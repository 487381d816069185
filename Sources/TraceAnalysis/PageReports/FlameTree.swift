// The data of a flame graph: call stacks joined from their outermost frames on.

import TraceExports
import TraceReading

/// A tree of frames with the figures of the stacks that end there. What is too small to be seen is joined.
struct FlameTree {
  /// A function, a type, or what is left out.
  struct Frame: Hashable {
    enum Kind: String { case own, library, type, omitted }
    var name: String
    var place: String
    var kind: Kind
  }

  struct Node {
    /// Lower than the node's own number; −1 for the outermost.
    var parent: Int
    var frame: Int
    /// By measure, without those of its callees.
    var own: [UInt64]
  }

  let measures: [ProfileMeasure]
  private(set) var frames: [Frame] = []
  /// Parents before their children.
  private(set) var nodes: [Node] = []
  /// Nodes that were joined.
  private(set) var omittedCount = 0

  /// Nodes of a page: more are not seen, and make it slow to open.
  static let standardLimit = 20_000

  /// O(frames of all samples).
  init(_ profile: StackProfile, limit: Int = Self.standardLimit) {
    measures = profile.measures.filter { profile.sum($0) > 0 }
    build(profile)
    prune(to: max(1, limit))
  }

  private struct Step: Hashable {
    var parent: Int
    var frame: Int
  }

  private mutating func build(_ profile: StackProfile) {
    var numbers: [Frame: Int] = [:]
    var steps: [Step: Int] = [:]
    func number(of frame: Frame) -> Int {
      if let known = numbers[frame] { return known }
      numbers[frame] = frames.count
      frames.append(frame)
      return frames.count - 1
    }
    func child(of parent: Int, _ frame: Int) -> Int {
      let step = Step(parent: parent, frame: frame)
      if let known = steps[step] { return known }
      steps[step] = nodes.count
      nodes.append(Node(parent: parent, frame: frame, own: [UInt64](repeating: 0, count: measures.count)))
      return nodes.count - 1
    }
    let functions = profile.functions.map { function in
      number(
        of: Frame(
          name: function.name, place: fileName(ofPath: function.file.isEmpty ? function.image : function.file),
          kind: function.kind == .user ? .own : .library))
    }
    let cut = Frame(name: "…", place: "", kind: .omitted)
    for sample in profile.samples {
      let values = measures.map { $0.value(of: sample) }
      guard values.contains(where: { $0 > 0 }) else { continue }
      var node = sample.isCut ? child(of: -1, number(of: cut)) : -1
      for location in sample.locations.reversed() {
        for line in profile.locations[location].lines.reversed() { node = child(of: node, functions[line.function]) }
      }
      node = child(of: node, number(of: Frame(name: sample.type, place: "", kind: .type)))
      for index in values.indices { nodes[node].own[index] &+= values[index] }
    }
  }

  /// Joins the smallest siblings until there are few enough nodes: whatever is smaller than a share of each whole goes
  /// into one node of its parent's.
  private mutating func prune(to limit: Int) {
    guard nodes.count > limit else { return }
    var totals = nodes.map(\.own)
    var whole = [UInt64](repeating: 0, count: measures.count)
    for index in nodes.indices.reversed() {
      let parent = nodes[index].parent
      for measure in measures.indices {
        if parent >= 0 {
          totals[parent][measure] &+= totals[index][measure]
        } else {
          whole[measure] &+= totals[index][measure]
        }
      }
    }
    let shares = nodes.indices.map { index in
      measures.indices.reduce(0.0) { max($0, Double(totals[index][$1]) / Double(max(1, whole[$1]))) }
    }
    let least = shares.sorted(by: >)[limit / 2]
    var places = [Int](repeating: -1, count: nodes.count)
    var rest: [Int: Int] = [:]
    var kept: [Node] = []
    frames.append(Frame(name: "(smaller ones)", place: "", kind: .omitted))
    let omitted = frames.count - 1
    for index in nodes.indices {
      let node = nodes[index]
      let parent = node.parent < 0 ? -1 : places[node.parent]
      // Its parent is in a joined node already: that has all of it.
      if node.parent >= 0, parent < -1 {
        places[index] = parent
        continue
      }
      if shares[index] > least, kept.count < limit {
        places[index] = kept.count
        kept.append(Node(parent: parent, frame: node.frame, own: node.own))
        continue
      }
      omittedCount += 1
      let place: Int
      if let known = rest[parent] {
        place = known
      } else {
        place = kept.count
        kept.append(Node(parent: parent, frame: omitted, own: [UInt64](repeating: 0, count: measures.count)))
        rest[parent] = place
      }
      for measure in measures.indices { kept[place].own[measure] &+= totals[index][measure] }
      places[index] = -2
    }
    nodes = kept
  }
}
