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
  let teardown: Teardown
  /// The image at exit. It has the metadata of types, which the layouts of classes need.
  let exit: TraceSnapshot
  /// The moment of the heap, in the form of a heap image without words.
  package let snapshot: TraceSnapshot
  private let reader: TraceReader
  /// The sites of the objects that ended.
  private let sites: [SiteID]
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
  /// Maximum number of objects.
  private static let objectLimit = 1_000_000

  /// Returns nil if the program did not free a growing number of objects at its end. `allocations`: the sums up to
  /// `exit`, an image at exit. `lastOrdinal`: the number of the process's events. Linear in the sites, and one or two
  /// passes over the events if sites may qualify.
  package init?(_ reader: TraceReader, _ allocations: AllocationAnalysis, exit: TraceSnapshot, lastOrdinal: UInt64) {
    guard exit.reason == .exit, !reader.header.lacksHistory, reader.header.referenceCounting != .off,
      !allocations.definitions.process.isAttached
    else { return nil }
    var sites = Self.candidates(allocations, lastOrdinal)
    guard !sites.isEmpty, var teardown = Self.search(sites, reader, exit) else { return nil }
    // Objects that ended one by one ended by the program's work. They may have had their peak earlier.
    let ended = Self.endedWithOwners(teardown, of: sites, allocations.sites)
    if ended.count < sites.count {
      sites = ended
      guard !sites.isEmpty, let found = Self.search(sites, reader, exit),
        Self.endedWithOwners(found, of: sites, allocations.sites).count == sites.count
      else { return nil }
      teardown = found
    }
    // Work that is done again and again makes as many objects each time.
    let added = teardown.peak - min(teardown.peak, teardown.earlierPeak)
    guard added >= Int(Self.minObjects), Double(added) >= Self.minShare * Double(teardown.peak),
      teardown.time > reader.header.startTime, teardown.share >= Self.minPeak,
      Double(teardown.rest) <= Self.maxRest * Double(teardown.peak)
    else { return nil }
    (self.teardown, self.exit, self.reader, self.sites) = (teardown, exit, reader, sites)
    types = allocations.definitions.types.mapValues(TypeNames.type)
    metadata = allocations.definitions.types.mapValues(\.metadata)
    snapshot = TraceSnapshot(
      number: exit.number, time: teardown.time, isFrozen: exit.isFrozen, regions: [Self.region], label: exit.label)
  }

  private static func search(
    _ sites: [SiteID], _ reader: TraceReader, _ exit: TraceSnapshot, stacksAt addresses: [UInt64] = []
  ) -> Teardown? {
    TeardownSearch.search(sites, until: exit.time, limit: objectLimit, stacksAt: addresses, in: reader)
  }

  /// Returns the stack of the call that ended a block of the heap; nil if it is not known. The first call takes one pass
  /// over the events, for `blocks`.
  func stack(ofEndOf block: LiveBlock, among blocks: () -> [LiveBlock]) -> StackID? {
    if ends == nil {
      ends = Self.search(sites, reader, exit, stacksAt: blocks().map(\.address))?.ends ?? [:]
    }
    return ends?[block.identity]?.stack
  }

  private var ends: [BlockIdentity: Teardown.End]?

  /// Returns the sites of types whose objects mostly ended because their owner did. Linear in the ends.
  private static func endedWithOwners(_ teardown: Teardown, of sites: [SiteID], _ all: AllocationSites) -> [SiteID] {
    var counts: [UInt32: (owned: Int, all: Int)] = [:]
    let chosen = Set(sites)
    for end in teardown.ends.values where chosen.contains(end.site) {
      let type = all[Int(end.site.rawValue)].type
      counts[type, default: (0, 0)].all += 1
      if end.owner != nil { counts[type]!.owned += 1 }
    }
    return sites.filter { site in
      counts[all[Int(site.rawValue)].type].map { Double($0.owned) >= minOwned * Double($0.all) } ?? false
    }
  }

  /// Returns the sites of the program's types whose objects became more and more, and then ended.
  private static func candidates(_ allocations: AllocationAnalysis, _ lastOrdinal: UInt64) -> [SiteID] {
    var sites: [UInt32: [Int]] = [:]
    let types = allocations.definitions.types
    for index in allocations.sites.indices {
      let site = allocations.sites[index]
      guard site.operation == .object, site.deaths > 0, site.type > 0 else { continue }
      sites[site.type, default: []].append(index)
    }
    return sites.values.flatMap { indices -> [SiteID] in
      let first = allocations.sites[indices[0]]
      guard let type = types[first.type].map(TypeNames.type), type.kind == .object, !type.module.isEmpty,
        !SystemCode.isSystemModule(type.module)
      else { return [] }
      let curves = indices.map { allocations.sites[$0].liveCurve }
      let counts = (0...LiveCurves.intervals).map { interval in
        let moment = lastOrdinal / UInt64(LiveCurves.intervals) * UInt64(interval)
        return curves.reduce(UInt64(0)) { $0 + $1.live(at: moment) }
      }
      let rest = indices.reduce(UInt64(0)) { sum, index in
        sum + allocations.sites[index].births - allocations.sites[index].deaths
      }
      // Many small objects take a while to end, so the end is no fixed part of the run.
      let late = counts.max() ?? 0
      let peak = counts.lastIndex(of: late) ?? 0
      // Work that is done again and again makes as many objects each time.
      let added = late - (counts[...(peak / 2)].max() ?? 0)
      guard added >= minObjects, Double(added) >= minShare * Double(late),
        Double(rest) <= maxRest * Double(late)
      else { return [] }
      return indices.map { SiteID(UInt32($0)) }
    }
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
