// Rebuilds the heap before a program freed its objects, from the events.

import CHeapScan
import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The heap at the peak of a program that freed most of its objects shortly before it ended. A heap image at exit has
/// none of them, so it cannot show what kept them. The order of their ends does: the end of an owner ends the objects
/// that only this owner kept.
///
/// The rebuilt heap has one reference to each object: from its last owner, or from a root if a function ended the object.
/// So it shows growth and holders, but no cycles and no lost objects. For one thread at a time.
package final class EarlierHeap {
  /// The end of the objects.
  private struct Course {
    var teardown: Teardown
    var moment: Teardown.Moment
    /// The sites of the objects whose course decided the moment.
    var sites: [SiteID]
  }

  private let course: Course
  private var teardown: Teardown { course.teardown }
  /// Whether some types grew until the moment. Otherwise the heap only shows objects that their siblings left behind.
  package var isGrown: Bool { course.moment == .peak }
  /// The image at exit. It has the metadata of types, which the layouts of classes need.
  let exit: TraceSnapshot
  /// The moment of the heap, in the form of a heap image without words.
  package let snapshot: TraceSnapshot
  private let reader: TraceReader
  private let types: [UInt32: NodeType]
  private let metadata: [UInt32: RuntimeAddress]

  /// The minimum number of objects of one type that must have been added in the second half of the run up to the peak,
  /// and freed at its end.
  private static let minObjects: UInt64 = 16
  /// The minimum share of these objects, among those that were live before the end.
  private static let minShare = 0.2
  /// The minimum share of all blocks that the process must have made before the peak. After an earlier peak, the number
  /// of objects fell while the program worked.
  private static let minPeak = 0.75
  /// The maximum share of the objects that may be live at exit. The image at exit shows those.
  private static let maxRest = 0.5
  /// The minimum share of the objects of one type that must have ended with an owner.
  private static let minOwned = 0.75
  /// The minimum number of objects, and their minimum share, that must have ended at once.
  private static let minCascade = 8
  private static let minShareOfCascade = 1.0 / 32
  /// The minimum number of objects that must have lived much longer than their siblings.
  private static let minOld = 3
  /// Objects must be live at the end of one of the last intervals of the run. This is the number of these intervals.
  private static let lateIntervals = LiveCurves.intervals / 4
  /// Maximum number of objects.
  private static let objectLimit = 1_000_000

  /// Returns nil if the program freed few objects at its end. `allocations`: the sums up to `exit`, an image at exit.
  /// `lastOrdinal`: the number of the process's events. Linear in the sites, and one to three passes over the events if
  /// sites may qualify.
  package init?(_ reader: TraceReader, _ allocations: AllocationAnalysis, exit: TraceSnapshot, lastOrdinal: UInt64) {
    guard exit.reason == .exit, !reader.header.lacksHistory, reader.header.referenceCounting != .off,
      !allocations.definitions.process.isAttached,
      let course = Self.course(allocations, lastOrdinal, reader, exit)
    else { return nil }
    (self.course, self.exit, self.reader) = (course, exit, reader)
    types = allocations.definitions.types.mapValues(TypeNames.type)
    metadata = allocations.definitions.types.mapValues(\.metadata)
    snapshot = TraceSnapshot(
      number: exit.number, time: course.teardown.time, isFrozen: exit.isFrozen, regions: [Self.region],
      label: exit.label)
  }

  /// Returns the end of the objects; nil if there were few.
  private static func course(
    _ allocations: AllocationAnalysis, _ lastOrdinal: UInt64, _ reader: TraceReader, _ exit: TraceSnapshot
  ) -> Course? {
    let populations = populations(allocations, lastOrdinal)
    func sites(of types: Set<UInt32>) -> [SiteID] {
      var sites: [SiteID] = []
      if types.isEmpty { return sites }
      forEachSite(allocations) { index, type, _, _ in
        if types.contains(type) { sites.append(SiteID(UInt32(index))) }
      }
      return sites
    }
    let grownTypes = Set(populations.filter { isGrown($0.value) }.keys)
    return grown(sites(of: grownTypes), allocations, reader, exit)
      ?? remaining(sites(of: typesWithRemainder(populations, allocations)), reader, exit)
  }

  /// Returns the end of objects that became more and more; nil if there were few. `candidates`: their sites.
  private static func grown(
    _ candidates: [SiteID], _ allocations: AllocationAnalysis, _ reader: TraceReader, _ exit: TraceSnapshot
  ) -> Course? {
    var sites = candidates
    guard !sites.isEmpty, var teardown = search(sites, after: .peak, reader, exit) else { return nil }
    // Objects that ended one by one ended by the program's work. They may have had their peak earlier.
    let ended = endedWithOwners(teardown, of: sites, allocations.sites)
    if ended.count < sites.count {
      sites = ended
      guard !sites.isEmpty, let found = search(sites, after: .peak, reader, exit),
        endedWithOwners(found, of: sites, allocations.sites).count == sites.count
      else { return nil }
      teardown = found
    }
    // Work that is done again and again makes as many objects each time.
    let added = teardown.peak - min(teardown.peak, teardown.earlierPeak)
    guard added >= Int(minObjects), Double(added) >= minShare * Double(teardown.peak), isLate(teardown, reader)
    else { return nil }
    return Course(teardown: teardown, moment: .peak, sites: sites)
  }

  /// Returns the end of objects whose siblings ended before; nil if there were few. `sites`: the sites of the objects.
  private static func remaining(_ sites: [SiteID], _ reader: TraceReader, _ exit: TraceSnapshot) -> Course? {
    guard !sites.isEmpty, var teardown = search(sites, after: .lastBirth, reader, exit), isLate(teardown, reader)
    else { return nil }
    let inCascade = inCascade(teardown, of: sites)
    teardown.ends = teardown.ends.filter { inCascade($0.value) }
    guard !teardown.ends.isEmpty else { return nil }
    return Course(teardown: teardown, moment: .lastBirth, sites: sites)
  }

  /// Returns whether the program had done most of its work before a teardown, and freed most of the objects in it.
  private static func isLate(_ teardown: Teardown, _ reader: TraceReader) -> Bool {
    teardown.time > reader.header.startTime && teardown.share >= minPeak
      && Double(teardown.rest) <= maxRest * Double(teardown.peak)
  }

  private static func search(
    _ sites: [SiteID], after moment: Teardown.Moment, _ reader: TraceReader, _ exit: TraceSnapshot,
    stacksAt addresses: [UInt64] = []
  ) -> Teardown? {
    TeardownSearch.search(sites, after: moment, until: exit.time, limit: objectLimit, stacksAt: addresses, in: reader)
  }

  /// Returns the stack of the call that ended a block of the heap; nil if it is not known. The first call takes one pass
  /// over the events, for `blocks`.
  func stack(ofEndOf block: LiveBlock, among blocks: () -> [LiveBlock]) -> StackID? {
    if ends == nil {
      ends =
        Self.search(course.sites, after: course.moment, reader, exit, stacksAt: blocks().map(\.address))?.ends ?? [:]
    }
    return ends?[block.identity]?.stack
  }

  private var ends: [BlockIdentity: Teardown.End]?

  /// Returns the sites of types whose objects mostly ended because their owner did. Linear in the ends.
  private static func endedWithOwners(_ teardown: Teardown, of sites: [SiteID], _ all: AllocationSites) -> [SiteID] {
    var counts: [UInt32: (owned: Int, all: Int)] = [:]
    let chosen = Set(sites)
    let inCascade = inCascade(teardown, of: sites)
    for end in teardown.ends.values where chosen.contains(end.site) {
      let type = all[Int(end.site.rawValue)].type
      counts[type, default: (0, 0)].all += 1
      if end.owner != nil, inCascade(end) { counts[type]!.owned += 1 }
    }
    return sites.filter { site in
      counts[all[Int(site.rawValue)].type].map { Double($0.owned) >= minOwned * Double($0.all) } ?? false
    }
  }

  /// Returns whether an end belongs to a cascade that ended many of the objects. Other objects ended one by one, by the
  /// program's work. Linear in the ends.
  private static func inCascade(_ teardown: Teardown, of sites: [SiteID]) -> (Teardown.End) -> Bool {
    let chosen = Set(sites)
    var counts: [UInt32: Int] = [:]
    for end in teardown.ends.values where chosen.contains(end.site) { counts[end.cascade, default: 0] += 1 }
    let least = max(minCascade, Int(minShareOfCascade * Double(counts.values.reduce(0, +))))
    return { counts[$0.cascade, default: 0] >= least }
  }

  /// The objects of one of the program's types.
  private struct Population {
    /// The number of objects that are live at exit. Sites whose objects all live are left out.
    var rest: UInt64 = 0
    /// The live objects of these sites after each interval of the run.
    var counts = [UInt64](repeating: 0, count: LiveCurves.intervals + 1)

    /// The most live objects in the last intervals of the run.
    var late: UInt64 { counts.suffix(lateIntervals).max() ?? 0 }
  }

  /// Returns the populations of the program's types, by type. Linear in the sites.
  private static func populations(_ allocations: AllocationAnalysis, _ lastOrdinal: UInt64) -> [UInt32: Population] {
    var populations: [UInt32: Population] = [:]
    let step = lastOrdinal / UInt64(LiveCurves.intervals)
    let sites = allocations.sites
    forEachSite(allocations) { index, type, births, deaths in
      populations[type, default: Population()].rest += births - deaths
      sites.addLive(at: index, every: step, to: &populations[type]!.counts)
    }
    return populations
  }

  /// Passes the sites of the program's types whose objects have ended, at least in part.
  private static func forEachSite(
    _ allocations: AllocationAnalysis,
    _ body: (_ index: Int, _ type: UInt32, _ births: UInt64, _ deaths: UInt64) -> Void
  ) {
    let sites = allocations.sites
    var areOfProgram: [UInt32: Bool] = [:]
    for index in sites.indices {
      let key = sites.key(at: index)
      guard key.operation == .object, key.type > 0 else { continue }
      let (births, deaths) = sites.counts(at: index)
      guard deaths > 0 else { continue }
      let isOfProgram: Bool
      if let known = areOfProgram[key.type] {
        isOfProgram = known
      } else {
        let type = allocations.definitions.types[key.type].map(TypeNames.type)
        isOfProgram =
          type.map { $0.kind == .object && !$0.module.isEmpty && !SystemCode.isSystemModule($0.module) } ?? false
        areOfProgram[key.type] = isOfProgram
      }
      if isOfProgram { body(index, key.type, births, deaths) }
    }
  }

  /// Returns whether the objects of a type became more and more, and then ended.
  private static func isGrown(_ objects: Population) -> Bool {
    // Many small objects take a while to end, so the end is no fixed part of the run.
    let late = objects.counts.max() ?? 0
    let peak = objects.counts.lastIndex(of: late) ?? 0
    // Work that is done again and again makes as many objects each time.
    let added = late - (objects.counts[...(peak / 2)].max() ?? 0)
    return added >= minObjects && Double(added) >= minShare * Double(late)
      && Double(objects.rest) <= maxRest * Double(late)
  }

  /// Returns the types with objects that were live near the end of the run and lived much longer than those that had
  /// ended before. Linear in the sites if a type may qualify.
  private static func typesWithRemainder(
    _ populations: [UInt32: Population], _ allocations: AllocationAnalysis
  ) -> Set<UInt32> {
    let late = populations.mapValues(\.late).filter { type, late in
      late >= minCascade && Double(populations[type]!.rest) <= maxRest * Double(late)
    }
    var types: Set<UInt32> = []
    if late.isEmpty { return types }
    forEachSite(allocations) { index, type, _, deaths in
      guard let late = late[type], deaths > late, !types.contains(type),
        hasRemainder(allocations.sites[index].lifetime, late: late)
      else { return }
      types.insert(type)
    }
    return types
  }

  /// Returns whether some objects of a site lived much longer than the others. `late`: the number of live objects of
  /// their type near the end of the run.
  private static func hasRemainder(_ lifetime: SiteLifetime, late: UInt64) -> Bool {
    let tails = lifetime.work.tails(of: lifetime.deaths)
    guard let usual = tails.last(where: { $0.beyond <= late })?.bound else { return false }
    // Lives are known to a factor of two.
    return tails.first { $0.bound <= 2 * usual }.map { $0.beyond >= minOld } ?? false
  }

  // MARK: The image

  /// The memory of the roots. No program has memory at these addresses: the kernel keeps the lowest ones free.
  private static let region = MemoryRegion(range: 0x1000..<0x1_0000, kind: .anonymous)

  /// Leaves out the blocks that did not end after the peak: the image at exit shows them.
  package func restrict(_ allocations: inout AllocationAnalysis) {
    allocations.blocksAtSnapshot = LiveBlockList(
      allocations.blocksAtSnapshot.filter { teardown.ends[$0.identity] != nil })
  }

  /// Returns the words of the heap: the references from owners, and the roots. Gives the layouts the names of fields.
  /// Linear in the blocks. Nil if there are too many roots.
  func image(_ heap: LiveHeap, _ sites: AllocationSites, layouts: ClassLayouts) -> HeapImage? {
    var owned: [UInt64: [Int]] = [:]
    var roots: [Int] = []
    let ended = heap.blocks.indices.compactMap { index in
      teardown.ends[heap.blocks[index].identity].map { (index: index, end: $0) }
    }.sorted { $0.end.order < $1.end.order }
    let live = Set(ended.map { heap.blocks[$0.index].address })
    for (index, end) in ended {
      if let owner = end.owner, live.contains(owner) {
        owned[owner, default: []].append(index)
      } else {
        roots.append(index)
      }
    }
    func type(_ index: Int) -> UInt32 { sites[Int(heap.blocks[index].site.rawValue)].type }
    var words: [(address: UInt64, value: UInt64)] = []
    for (index, _) in ended {
      let block = heap.blocks[index]
      guard block.size >= 16, let own = types[type(index)], let metadata = metadata[type(index)] else { continue }
      words.append((block.address, metadata.rawValue))
      words.append((block.address + UInt64(SWIFT_OBJECT_COUNTS), Self.oneReference))
      guard let parts = owned[block.address] else { continue }
      if own.kind.isCollection { words.append((block.address + UInt64(SWIFT_ARRAY_COUNT), UInt64(parts.count))) }
      var places = OwnedPlaces(
        block, own,
        own.kind == .object ? layouts.layout(ofInstanceAt: RuntimeAddress(block.address), metadata: metadata) : nil)
      for part in parts {
        guard let place = places.take(for: types[type(part)]) else {
          roots.append(part)
          continue
        }
        words.append((block.address + place, heap.blocks[part].address))
      }
      layouts.join(places.alike, of: metadata)
    }
    guard roots.count * 8 <= Self.region.range.count else { return nil }
    for (number, index) in roots.enumerated() {
      words.append((Self.region.range.lowerBound + 8 * UInt64(number), heap.blocks[index].address))
    }
    return HeapImage(words: words)
  }

  /// The counts of an object with one strong reference, as the runtime stores them.
  private static let oneReference: UInt64 = 3
}
