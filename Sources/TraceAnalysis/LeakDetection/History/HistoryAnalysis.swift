// Answers queries with the retain history of the matching objects.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds out where the objects of a query were retained and released. For one thread at a time.
///
/// Takes two or three passes over the events. The first finds the objects. If needed, another finds the last object at
/// an address. The last collects the objects' events.
package final class HistoryAnalysis {
  let reader: TraceReader
  private let allocations: AllocationAnalysis
  private let snapshot: TraceSnapshot?
  private let image: HeapImage?
  let places: RetainPlaces
  package private(set) var diagnostics = TraceDiagnostics()

  /// `allocations` must come from the same snapshot. Without a snapshot, histories end at the end of the trace.
  /// `imageLimit`: the memory limit of the heap image; nil for the memory that the reader's limit leaves.
  package init(
    _ reader: TraceReader, _ allocations: AllocationAnalysis, snapshot: TraceSnapshot?, naming: any FrameNaming,
    imageLimit: MemoryLimit? = nil
  ) {
    self.reader = reader
    self.allocations = allocations
    self.snapshot = snapshot
    var diagnostics = TraceDiagnostics()
    image = snapshot.map { HeapImage($0, in: reader, limit: imageLimit, diagnostics: &diagnostics) }
    self.diagnostics = diagnostics
    places = RetainPlaces(allocations.definitions, naming: naming)
  }

  /// Returns nil if nothing matches. Also returns nil if the trace is not trusted and its file is too small to justify
  /// the passes; the reader's `refusedPass` then records the refusal.
  package func report(_ query: RetainQuery) -> HistoryReport? {
    if case .address(let address) = query {
      if snapshot != nil, let block = liveBlock(at: address) { return report(.blocks([block.identity]), isLive: true) }
      guard reader.mayReplay(times: 2), let block = lastBlock(at: address) else { return nil }
      return report(.blocks([block.identity]), isLive: false)
    }
    let sites = sites(query)
    guard !sites.isEmpty else { return nil }
    guard snapshot != nil else { return report(.sites(sites), isLive: false) }
    let blocks = allocations.blocksAtSnapshot.filter { sites.contains($0.site) }
    return blocks.isEmpty ? nil : report(.blocks(Set(blocks.map(\.identity))), isLive: true)
  }

  /// All frames of a shown stack.
  package func frames(of stack: StackID) -> (frames: [ReportFrame], end: StackPath.End) {
    places.reportFrames(of: stack)
  }

  /// The innermost frames of a shown stack, at most `limit`.
  func frames(of stack: StackID, limit: Int) -> (frames: [ReportFrame], end: StackPath.End) {
    places.reportFrames(of: stack, limit: limit)
  }

  private func liveBlock(at address: RuntimeAddress) -> LiveBlock? {
    let heap = LiveHeap(allocations.blocksAtSnapshot)
    return heap.block(containing: address.rawValue).map { heap[$0] }
  }

  private func lastBlock(at address: RuntimeAddress) -> LiveBlock? {
    LastBlock.find(address, in: reader)
  }

  /// The sites of Swift objects that match the query by their type, or by a function on their stack.
  private func sites(_ query: RetainQuery) -> Set<SiteID> {
    let objects = allocations.sites.indices.filter { allocations.sites[$0].operation == .object }
    switch query {
    case .address: return []
    case .type(let pattern):
      let types = objects.map { index in
        allocations.definitions.types[allocations.sites[index].type].map(TypeNames.type)
      }
      func isExact(_ type: NodeType?) -> Bool {
        type.map { pattern.isExactly($0.name) || pattern.isExactly($0.qualifiedName) } ?? false
      }
      func matches(_ type: NodeType?) -> Bool {
        type.map { pattern.matches($0.name) || pattern.matches($0.qualifiedName) } ?? false
      }
      let anyExact = types.contains(where: isExact)
      return Set(zip(objects, types).filter { anyExact ? isExact($0.1) : matches($0.1) }.map { SiteID(UInt32($0.0)) })
    case .site(let pattern):
      let search = places.search { pattern.matches($0.function) || pattern.matches($0.fullFunction) }
      return Set(objects.filter { search.contains(allocations.sites[$0].stack) }.map { SiteID(UInt32($0)) })
    }
  }

  // MARK: Collecting

  private func report(_ choice: RetainHistory.Choice, isLive: Bool) -> HistoryReport? {
    guard reader.mayReplay(times: isLive && image != nil ? 2 : 1) else { return nil }
    let endTime = isLive ? snapshot?.time ?? .max : .max
    let collected = RetainHistory.collect(choice, until: endTime, in: reader)
    let shapes: [(blocks: UInt64, first: BlockHistory)] = collected.shapes.values
      .sorted {
        ($1.blocks, $0.first.block.birthTime, $0.first.block.address) < (
          $0.blocks, $1.first.block.birthTime, $1.first.block.address
        )
      }
    guard let first = shapes.first else { return nil }
    var sums = SiteSums()
    var report = HistoryReport(
      scope: isLive ? snapshot.map { .live($0) } ?? .ever : .ever, typeName: typeName(of: shapes.map(\.first.block)),
      objects: 0,
      example: RuntimeAddress(first.first.block.address), sites: [], unmatchedReleases: [], counts: CountComparison(),
      gaps: [])
    var spareComparisons = Self.comparisonLimit
    for (blocks, history) in shapes {
      report.objects += blocks
      let paired = pair(history, &spareComparisons)
      sums.add(paired, blocks: blocks, places: places)
      if shapes.count == 1, blocks == 1 { report.object = rows(history, paired) }
    }
    report.sites = sums.sites
    report.unmatchedReleases = sums.unmatchedReleases
    var gaps = GapSearch(reader, allocations, shapes: shapes)
    if collected.refusedEvents > 0 { gaps.add(.tooManyEvents(collected.refusedEvents)) }
    if isLive, let snapshot, let image {
      gaps.compare(
        choice, RetainBalances.at(snapshot, in: reader), Array(allocations.blocksAtSnapshot), image, snapshot)
      if let object = report.object { report.count = ObjectGraph.referenceCount(of: object.block.address, in: image) }
    } else if report.object?.isFreed != true {
      gaps.add(.noSnapshot)
    }
    report.counts = gaps.counts
    gaps.check(shapes, unmatchedReleases: report.unmatchedReleases.reduce(0) { $0 + $1.count })
    report.gaps = gaps.gaps
    return report
  }

  private func site(of block: LiveBlock) -> AllocationSite? {
    let index = Int(block.site.rawValue)
    return index < allocations.sites.count ? allocations.sites[index] : nil
  }

  private func typeName(of blocks: [LiveBlock]) -> String {
    var names: [String] = []
    var known: Set<String> = []
    for block in blocks {
      guard let site = site(of: block) else { continue }
      let name =
        site.operation == .object
        ? allocations.definitions.types[site.type].map { TypeNames.type($0).name } ?? "unknown type"
        : site.operation.name
      if known.insert(name).inserted { names.append(name) }
    }
    if names.isEmpty { return "unknown type" }
    return names.count <= 3 ? names.joined(separator: ", ") : "\(names[0]) and \(names.count - 1) other types"
  }

  // MARK: Pairing

  struct Paired {
    var events: [HistoryEvent]
    /// For each event: the index of its place.
    var places: [Int]
    var pairing: RetainPairing
  }

  /// Maximum number of pairs of places that are compared to pair the retains of all objects of a report. The
  /// comparisons take a second or two.
  static let comparisonLimit = 1 << 26

  func pair(_ history: BlockHistory, _ spareComparisons: inout Int) -> Paired {
    let site = site(of: history.block)
    let isObject = site?.operation == .object
    let type =
      isObject
      ? allocations.definitions.types[site?.type ?? 0].map { String(TypeNames.type($0).name.prefix { $0 != "<" }) }
        ?? "" : ""
    let places = history.events.enumerated().map { index, event in
      self.places.place(of: event.stack, allocating: index == 0 ? type : "")
    }
    var steps = zip(history.events, places).enumerated().map { index, pair in
      RetainPairing.Step(place: pair.1, change: pair.0.change, isAllocation: index == 0)
    }
    // An object is freed without a release in two cases: the compiler knows that a reference is the last one, or an
    // initialiser fails.
    if history.isFreed, isObject, history.balance == 1 { steps[steps.count - 1].change = -1 }
    return Paired(
      events: history.events, places: places,
      pairing: RetainPairing(
        steps, places: self.places.places, activations: self.places.activations, spareComparisons: &spareComparisons))
  }

  private func rows(_ history: BlockHistory, _ paired: Paired) -> ObjectHistory {
    var partners = [[Int]](repeating: [], count: history.events.count)
    for link in paired.pairing.links {
      partners[link.taken].append(link.givenUp + 1)
      partners[link.givenUp].append(link.taken + 1)
    }
    let start = reader.clock.seconds(at: history.block.birthTime)
    var strong: Int64 = 0
    let rows = history.events.indices.map { index in
      let event = history.events[index]
      strong &+= paired.pairing.steps[index].change
      return ObjectHistory.Row(
        event: event, place: places.named[paired.places[index]],
        seconds: start.flatMap { start in reader.clock.seconds(at: event.time).map { $0 - start } },
        strong: strong, partners: partners[index].sorted(), rest: paired.pairing.left[index])
    }
    return ObjectHistory(block: history.block, rows: rows, isFreed: history.isFreed)
  }
}

/// Adds up the places of many objects.
private struct SiteSums {
  private struct Key: Hashable {
    var function: SourceFrame?
    var operation: Operation
    /// The library function, if there is no function of the program.
    var through: String?
  }

  private var sums: [Key: RetainSite] = [:]
  private var givenUp: [Key: [Key: (place: HistoryPlace, count: UInt64)]] = [:]
  private var unmatched: [Key: (place: HistoryPlace, count: UInt64)] = [:]

  private func key(_ place: HistoryPlace, _ operation: Operation) -> Key {
    var function = place.function
    function?.column = nil
    return Key(function: function, operation: operation, through: place.through)
  }

  mutating func add(_ paired: HistoryAnalysis.Paired, blocks: UInt64, places: RetainPlaces) {
    var taken: Set<Key> = []
    var open: Set<Key> = []
    for (index, event) in paired.events.enumerated() {
      let place = places.named[paired.places[index]]
      let key = key(place, event.operation)
      let left = UInt64(paired.pairing.left[index])
      if event.change > 0 {
        let count = UInt64(event.change)
        let blank = RetainSite(
          place: place, operation: event.operation, taken: 0, givenUp: 0, objects: 0, openObjects: 0, givenUpAt: [])
        sums[key, default: blank].taken += count * blocks
        sums[key]?.givenUp += (count - left) * blocks
        taken.insert(key)
        if left > 0 { open.insert(key) }
      } else if left > 0 {
        unmatched[key, default: (place, 0)].count += left * blocks
      }
    }
    for key in taken { sums[key]?.objects += blocks }
    for key in open { sums[key]?.openObjects += blocks }
    for link in paired.pairing.links {
      let from = key(places.named[paired.places[link.taken]], paired.events[link.taken].operation)
      let place = places.named[paired.places[link.givenUp]]
      givenUp[from, default: [:]][key(place, .release), default: (place, 0)].count += UInt64(link.count) * blocks
    }
  }

  var sites: [RetainSite] {
    sums.map { key, site in
      var site = site
      site.givenUpAt = Self.sorted(givenUp[key].map { Array($0.values) } ?? [])
      return site
    }.sorted { ($1.rest, $1.taken, $0.place.stack) < ($0.rest, $0.taken, $1.place.stack) }
  }

  var unmatchedReleases: [(place: HistoryPlace, count: UInt64)] { Self.sorted(Array(unmatched.values)) }

  private static func sorted(_ places: [(place: HistoryPlace, count: UInt64)]) -> [(place: HistoryPlace, count: UInt64)]
  {
    places.sorted { ($1.count, $0.place.stack) < ($0.count, $1.place.stack) }
  }
}
