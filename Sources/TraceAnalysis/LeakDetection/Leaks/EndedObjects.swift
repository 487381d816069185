// Finds objects that ended while something still referred to them, or that were used after their end. Uses the objects'
// events.

import HeapAnalysis
import TraceReading

/// Looks up how the targets of dangling references ended, and finds objects that were used after their end. For one
/// thread at a time.
struct EndedObjects {
  private let finder: LeakFinder
  private var groups: [LeakGroup]
  /// A sentence with the reason for any uncertainty.
  private(set) var remark: String?

  /// Returns the groups of `finder`, with the ends of the objects that they refer to. Adds groups of objects that were
  /// used after their end. `suspects`: addresses from the first pass where code seems to have used blocks after their
  /// free.
  ///
  /// Look-ups take a second pass over the trace's events: O(events). Memory is proportional to the live blocks.
  static func groups(of finder: LeakFinder, in reader: TraceReader, suspects: Set<UInt64>, gaps: TraceGaps) -> (
    groups: [LeakGroup], remark: String?
  ) {
    var search = EndedObjects(finder: finder, groups: finder.groups)
    search.run(reader, suspects, gaps)
    return (search.groups, search.remark)
  }

  private init(finder: LeakFinder, groups: [LeakGroup]) {
    self.finder = finder
    self.groups = groups
  }

  private mutating func run(_ reader: TraceReader, _ suspects: Set<UInt64>, _ gaps: TraceGaps) {
    var addresses = suspects
    if finder.graph.hasUnseenMemory { addresses.formUnion(finder.graph.dangling.lazy.map(\.target)) }
    for group in groups { if let target = group.dangling?.target { addresses.insert(target) } }
    let referents = DanglingReferents(finder.graph, reader.definitions.types)
    let reused = finder.graph.dangling.filter {
      $0.isTargetReused && !finder.unreachable.contains($0.from.rawValue) && finder.isWanted($0.from)
        && referents.isMismatch($0)
    }
    for reference in reused { addresses.insert(reference.target) }
    guard !addresses.isEmpty else { return }
    let history = EndHistory.collect(addresses, snapshotTime: finder.graph.snapshot.time, in: reader)
    let used = history.usedBlocks
    let missing = Self.missingEvents(reader)
    if finder.graph.hasUnseenMemory {
      // A free may be missing from the trace. It is certain only for memory that was freed after the last missing call.
      groups += finder.danglingGroups { reference in
        history.endedAtSnapshot(reference.target).map { !gaps.mayHideFree(ofBlockMadeAt: $0.freed.time) } ?? false
      }
    }
    for index in groups.indices {
      guard let target = groups[index].dangling?.target else { continue }
      guard let reference = groups[index].dangling else { continue }
      groups[index].ended = referents.ended(reference, among: history.ends(at: target)).map { ended in
        history.endedAtSnapshot(target).flatMap { $0.isSame(as: ended) ? $0 : nil } ?? ended
      }
      if missing != nil { groups[index].ended?.forgetUses() }
    }
    if missing == nil { addReused(reused, referents, history) }
    guard !used.isEmpty else { return }
    if let missing {
      let objects = used.count == 1 ? "an object seems" : "\(used.count) objects seem"
      remark = "\(objects) to have been used after the end, but \(missing): another object may have been there"
    } else {
      add(used, history)
    }
  }

  /// Adds references to memory that another block uses now, if an object of the field's type ended there during the
  /// holder's life.
  private mutating func addReused(
    _ references: [ObjectGraph.DanglingReference], _ referents: DanglingReferents, _ history: EndHistory
  ) {
    var byReference: [[UInt64]: Int] = [:]
    for (index, group) in groups.enumerated() {
      if let reference = group.dangling { byReference[finder.key(of: reference)] = index }
    }
    for reference in references {
      guard let ended = referents.ended(reference, among: history.ends(at: reference.target)),
        ended.freed.time >= finder.graph.heap[reference.from].birthTime
      else { continue }
      let key = finder.key(of: reference)
      if let known = byReference[key] {
        groups[known].instances += 1
      } else {
        byReference[key] = groups.count
        var group = LeakGroup(
          verdict: .dangling, steps: [.init(node: reference.from.rawValue, edge: nil)], isCycle: false, instances: 1,
          retainedBytes: 0, retainedBlocks: 0)
        group.dangling = reference
        group.ended = ended
        groups.append(group)
      }
    }
  }

  /// Returns a reason why memory may have been freed and reused without events in the trace; nil if that is impossible.
  private static func missingEvents(_ reader: TraceReader) -> String? {
    if reader.header.startedPaused || !reader.definitions.pauses.isEmpty { return "recording was paused at times" }
    let drops = reader.drops
    if drops.unknown > 0 || DropCounts.Reason.allCases.contains(where: { $0.losesEvents && drops[$0] > 0 }) {
      return "events are missing"
    }
    return reader.diagnostics.isEmpty ? nil : "the trace is damaged"
  }

  /// Adds objects that were used after their end. If a dangling reference leads to the object, it belongs to the
  /// reference's group. The other objects are grouped by their stacks.
  private mutating func add(_ used: [EndedBlock], _ history: EndHistory) {
    var holders: [UInt64: ObjectGraph.DanglingReference] = [:]
    let addresses = Set(used.map(\.address))
    for reference in finder.graph.dangling
    where addresses.contains(reference.target) && !finder.unreachable.contains(reference.from.rawValue) {
      if holders[reference.target] == nil { holders[reference.target] = reference }
    }
    var byReference: [[UInt64]: Int] = [:]
    for (index, group) in groups.enumerated() {
      if let reference = group.dangling { byReference[finder.key(of: reference)] = index }
    }
    var byLife: [Life: Int] = [:]
    for block in used {
      if let reference = holders[block.address], history.endedAtSnapshot(block.address)?.isSame(as: block) == true,
        let index = byReference[finder.key(of: reference)]
      {
        // A used instance is more informative than an unused one.
        guard groups[index].ended?.used == nil else { continue }
        groups[index].ended = block
        groups[index].dangling = reference
        groups[index].steps = [.init(node: reference.from.rawValue, edge: nil)]
        continue
      }
      let life = Life(
        type: block.type, allocated: block.allocated.stack, freed: block.freed.stack,
        used: block.used?.stack ?? .unknown)
      if let known = byLife[life] {
        groups[known].instances += 1
      } else {
        byLife[life] = groups.count
        var group = LeakGroup(
          verdict: .dangling, steps: [], isCycle: false, instances: 1, retainedBytes: 0, retainedBlocks: 0)
        group.ended = block
        groups.append(group)
      }
    }
  }

  private struct Life: Hashable {
    var type: UInt32
    var allocated: StackID
    var freed: StackID
    var used: StackID
  }
}

extension EndedBlock {
  mutating func forgetUses() {
    used = nil
    uses = 0
  }
}
