// Finds the places that released objects which live on.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds the release that took an owner from an object for good. After this release, the object had no more references
/// than in the image.
///
/// Code that uses an object takes a reference and releases it in one function. A function that makes an object releases
/// its own reference. An owner's reference is released in another function, or much later.
///
/// The first lookup takes one pass over the events, for all objects that may be looked up. For one thread at a time.
final class LettingGo {
  struct Release {
    /// In ticks.
    var time: UInt64
    /// Ticks since the owner got the object.
    var span: UInt64
    /// The program's function that released the object.
    var place: SourceFrame
    /// Whether the function is none of those that made the object. Inlining hides this.
    var isElsewhere: Bool
    /// Whether the end of an owner released the object.
    var isOfEnd: Bool { place.function.hasSuffix("deinit") }
  }

  /// The lifetimes of siblings.
  struct Lives {
    /// Half of the siblings live no longer than this, in ticks and in events of the process.
    var half: UInt64
    var halfWork: Double
    /// No sibling lives longer than this.
    var longest: UInt64
    var longestWork: Double

    /// Returns whether an owner had an object for at least a share of these lifetimes. A function that hands an object
    /// on has it only for a moment. On a busy machine, lifetimes are longer in ticks, but not in events.
    func isOwned(for span: UInt64, work: Double, share: Double) -> Bool {
      Double(span) >= share * Double(min(half, longest)) || work >= share * min(halfWork, longestWork)
    }
  }

  /// The program's functions on a stack.
  struct Functions {
    /// The frame of the innermost function.
    var place: SourceFrame?
    /// The names of the functions, innermost first.
    var names: [String]

    /// - Parameter frames: the frames of a stack, innermost first.
    init(_ frames: [SourceFrame]) {
      let own = frames.filter { $0.kind == .user }
      (place, names) = (own.first, own.map(\.function))
    }
  }

  private let graph: ObjectGraph
  private let reader: TraceReader
  private let until: UInt64
  private let work: UInt64
  private let frames: (StackID) -> [SourceFrame]
  /// The functions of the stacks that were looked up. Few stacks have most events.
  private var functions: [StackID: Functions] = [:]
  private var wanted: Set<NodeID> = []
  private var known: [NodeID: Release?] = [:]

  private var passes = 0

  /// Maximum number of objects in one pass, and of passes.
  private static let objectLimit = 2_000
  private static let passLimit = 4

  /// - Parameter frames: the frames of a stack, innermost first.
  /// - Parameter until: the time of the image, in ticks.
  /// - Parameter work: the number of events of the process until then.
  init(
    _ graph: ObjectGraph, in reader: TraceReader, until: UInt64, work: UInt64,
    frames: @escaping (StackID) -> [SourceFrame]
  ) {
    (self.graph, self.reader, self.until, self.work, self.frames) = (graph, reader, until, work, frames)
  }

  /// Adds objects to the next pass.
  func mayBeAsked(about nodes: some Sequence<NodeID>) {
    for node in nodes where wanted.count < Self.objectLimit && known[node] == nil { wanted.insert(node) }
  }

  /// Returns the releases of some objects, in the order of the objects. An object that still has all its owners has no
  /// release. One pass over the events if one of the objects is new.
  func releases(of nodes: [NodeID]) -> [(node: NodeID, release: Release)] {
    if passes < Self.passLimit, nodes.contains(where: { known[$0] == nil }) {
      mayBeAsked(about: nodes)
      search()
    }
    return nodes.compactMap { node in (known[node] ?? nil).map { (node, $0) } }
  }

  /// Returns the places of some releases, those with most releases first.
  static func places(_ releases: [Release]) -> [(place: SourceFrame, releases: Int)] {
    var places: [SourceFrame: Int] = [:]
    for release in releases { places[release.place, default: 0] += 1 }
    // Names and lines decide between equal numbers, since the order of a dictionary changes.
    return places.sorted {
      (-$0.value, $0.key.fullFunction, $0.key.line ?? 0) < (-$1.value, $1.key.fullFunction, $1.key.line ?? 0)
    }.map { ($0.key, $0.value) }
  }

  /// Returns the share of all work that was left at a moment, in ticks. The result may be a little too small, since
  /// only the births of live blocks show the work done. O(log blocks), once they are sorted.
  func workLeft(at time: UInt64) -> Double {
    var (low, high) = (0, births.count)
    while low < high {
      let middle = (low + high) / 2
      if births[middle].time < time { low = middle + 1 } else { high = middle }
    }
    guard low < births.count else { return 0 }
    return Double(work - min(work, births[low].ordinal)) / Double(max(1, work))
  }

  /// Returns the number of the process's events between two moments, in ticks, by the births of live blocks.
  func work(from start: UInt64, to end: UInt64) -> Double {
    (workLeft(at: start) - workLeft(at: end)) * Double(work)
  }

  private lazy var births = graph.heap.blocks.filter { $0.ordinal > 0 }.map {
    (time: $0.birthTime, ordinal: $0.ordinal)
  }
  .sorted { $0.time < $1.time }

  private func search() {
    passes += 1
    let blocks = wanted.map { graph.heap[BlockID($0)] }
    let histories = RetainHistory.histories(of: blocks, until: until, in: reader)
    let byAddress = Dictionary(histories.map { ($0.block.address, $0) }, uniquingKeysWith: { first, _ in first })
    for node in wanted {
      known[node] = byAddress[graph.heap[BlockID(node)].address].flatMap { Self.release($0, functions: functions(of:)) }
    }
    wanted = []
  }

  private func functions(of stack: StackID) -> Functions {
    if let found = functions[stack] { return found }
    let found = Functions(frames(stack))
    functions[stack] = found
    return found
  }

  /// Returns the release that ended the longest ownership. Releases in another function take precedence. Linear in the
  /// events.
  static func release(_ history: BlockHistory, functions: (StackID) -> Functions) -> Release? {
    let rest = history.balance
    guard rest > 0, let birth = history.events.first else { return nil }
    let makers = functions(birth.stack).names
    var count: Int64 = 0
    var taken: HistoryEvent?
    var found: Release?
    for event in history.events {
      let before = count
      count &+= event.change
      if before <= rest, count > rest { taken = event }
      guard before > rest, count <= rest, let from = taken else { continue }
      // The owner may have the object's first reference, which came with the allocation.
      let isOfMaker = rest == 1 && found == nil
      let span = event.time - min(event.time, isOfMaker ? birth.time : from.time)
      guard let place = functions(event.stack).place else { continue }
      let isElsewhere =
        !makers.contains(place.function) && (isOfMaker || functions(from.stack).names.first != place.function)
      guard (isElsewhere ? 1 : 0, span) >= (found?.isElsewhere ?? false ? 1 : 0, found?.span ?? 0) else { continue }
      found = Release(time: event.time, span: span, place: place, isElsewhere: isElsewhere)
    }
    return found
  }
}
