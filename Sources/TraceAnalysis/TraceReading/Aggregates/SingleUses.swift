// Separates uses of single objects from loops over all objects of a group.

/// Finds the uses that concern one object, among the retains and releases of groups of objects. The objects of a group
/// have one type.
///
/// Code that uses one object retains it. Code that loops over a collection may retain each element in turn, so the
/// retains alone do not show that the program needs an element.
///
/// A *visit* is a series of retains and releases of one object, with at most three other objects of its group in
/// between. A visit belongs to a loop in two cases:
///
/// - The visits are in the same order as before: the object followed one of the last three objects earlier, too. Loops
///   over an array and walks along a list repeat their order, even if a search ends early. The first visit of each object
///   does not count as an earlier one, since the code that makes the objects visits them in order.
/// - The visits around it are a *pass*, after several earlier passes. A pass visits at least half of the group's
///   objects, each once. Loops over a dictionary change their order when the dictionary grows.
///
/// All other visits are single uses. So the first loops over a group count as single uses: a program that reads its
/// results once uses them.
///
/// Threads that loop over one group at the same time disturb the order. Their visits then count as single uses.
///
/// Memory: at most 140 bytes for each object. An event takes constant expected time.
package struct SingleUses: ReplayObserver {
  /// The single uses of an object, in the units of `LiveBlock.lastUse` and `LiveBlock.useAges`.
  package struct Use: Hashable, Sendable, BitwiseCopyable {
    package var last: UInt32 = 0
    package var ages: UInt16 = 0
    /// The share of the group's births before the object's birth, and the share of the passes. The births include
    /// objects that have ended.
    package var births = 0.0
    package var passes = 0.0
    /// The share of the group's births between the object's birth and its last use that is no part of a pass, not even of
    /// an early one. Uses after the last birth of the group do not count.
    package var span = 0.0

    package init(last: UInt32 = 0, ages: UInt16 = 0) { (self.last, self.ages) = (last, ages) }
  }

  /// Objects of one type that are live at the end, and the sites that made all objects of the type.
  package struct Objects {
    package var blocks: [LiveBlock]
    package var sites: [SiteID]

    package init(blocks: [LiveBlock], sites: [SiteID]) { (self.blocks, self.sites) = (blocks, sites) }
  }

  private struct Member: BitwiseCopyable {
    var ordinal: UInt64
    var group: Int32
    /// The objects that were visited next after this object, and next but one.
    var next: Int32 = Self.none
    var nextButOne: Int32 = Self.none
    /// The number of the run with the last visit; 0 if there was no visit.
    var run: UInt32 = 0
    /// The index of the last visit in the run that has not ended; `none` if that run has ended.
    var visit: Int32 = Self.none
    /// Whether the last visit of a run that has ended is a single use.
    var isSingle = false
    /// Whether the run that ends now has visited the object twice.
    var isVisitedTwice = false
    var last: UInt32 = 0
    var ages: UInt16 = 0
    /// The number of the group's births, and of its passes, before the object's birth.
    var births: UInt32 = 0
    var passes: UInt32 = 0
    /// The number of the group's births before the last use outside of passes, and before an earlier such use that had
    /// fewer births before it.
    var birthsAtUse: UInt32 = 0
    var birthsAtEarlierUse: UInt32 = 0

    static let none: Int32 = -1

    func precedes(_ other: Int32) -> Bool { next == other || nextButOne == other }

    mutating func note(at time: UInt32) {
      last = max(last, time)
      let now = UInt64(time) * LiveBlock.useUnit
      ages |= 1 << UInt16(LiveBlock.ageBit(now > ordinal ? now - ordinal : 0))
    }

    mutating func noteUse(after births: UInt32) {
      guard births > birthsAtUse else { return }
      (birthsAtEarlierUse, birthsAtUse) = (birthsAtUse, births)
    }
  }

  /// A visit of a run. Times are in `LiveBlock.useUnit`s of events.
  private struct Visit: BitwiseCopyable {
    var member: Int32
    var start: UInt32
    var end: UInt32
    /// The number of the group's births before the visit, and before its end.
    var births: UInt32
    var birthsAtEnd: UInt32
    /// Whether the run has visited the object before.
    var isRepeated: Bool
    /// Whether the object followed one of the last objects earlier, too.
    var isInOrder: Bool
  }

  private struct Group {
    /// The number of objects that were made so far, and of those that live until the end.
    var births: UInt32 = 0
    var born = 0
    /// The objects of the last visits, the newest first.
    var recent: (Int32, Int32, Int32, Int32) = (Member.none, Member.none, Member.none, Member.none)
    /// Visits of nearly as many different objects.
    var run: [Visit] = []
    var number: UInt32 = 1
    var repeated = 0
    /// The number of repeated visits at the end of the run.
    var repeatedLast = 0
    var passes: UInt32 = 0
  }

  /// Passes that count as single uses. A program that reads its results often needs several passes.
  private static let freePasses: UInt32 = 3
  /// Minimum number of objects in a pass.
  private static let minPass = 8
  /// A run may have this number of repeated visits, and one for each four other visits. Single uses may come between
  /// two passes.
  private static let repeatedLimit = 3
  private static let visitsPerRepeated = 4

  private var members: [Member]
  private var groups: [Group]
  private let places: [UInt64: Int32]
  /// By site: the group of its objects; -1 if there is none.
  private let groupOfSite: [Int32]
  private let endTime: UInt64

  /// - Parameter groups: the objects, by group. Their blocks are live at `endTime`, in ticks. Later events are ignored.
  package init(_ groups: [Objects], until endTime: UInt64) {
    var members: [Member] = []
    var places: [UInt64: Int32] = [:]
    var groupOfSite: [Int32] = []
    for (group, objects) in groups.enumerated() {
      for block in objects.blocks {
        places[block.address] = Int32(members.count)
        members.append(Member(ordinal: block.ordinal, group: Int32(group)))
      }
      for site in objects.sites.map({ Int($0.rawValue) }) {
        while groupOfSite.count <= site { groupOfSite.append(-1) }
        groupOfSite[site] = Int32(group)
      }
    }
    (self.members, self.places, self.groupOfSite, self.endTime) = (members, places, groupOfSite, endTime)
    self.groups = groups.map { _ in Group() }
  }

  /// Returns the single uses of the blocks of each group; nil if the limits of `reader` do not allow a pass over the
  /// events. All blocks are live at `endTime`, in ticks. Takes one pass over the events.
  package static func collect(_ groups: [Objects], until endTime: UInt64, in reader: TraceReader) -> [[Use]]? {
    var replayer = Replayer(SingleUses(groups, until: endTime), for: reader)
    guard reader.replay(into: &replayer, stacks: .allocations) else { return nil }
    return replayer.observer.uses()
  }

  /// Returns the single uses of the blocks of each group. Call once, after the last event.
  package mutating func uses() -> [[Use]] {
    var uses = groups.map { _ in [Use]() }
    for group in groups.indices { endRun(of: group, after: groups[group].run.count) }
    for member in members {
      let group = groups[Int(member.group)]
      var use = Use(last: member.last, ages: member.ages)
      use.births = Double(member.births) / Double(max(1, group.births))
      use.passes = Double(member.passes) / Double(max(1, group.passes))
      let births = member.birthsAtUse < group.births ? member.birthsAtUse : member.birthsAtEarlierUse
      use.span = Double(births - min(births, member.births)) / Double(max(1, group.births))
      uses[Int(member.group)].append(use)
    }
    return uses
  }

  @inline(__always)
  private func group(of block: LiveBlock, _ event: TraceEvent) -> Int? {
    let site = Int(block.site.rawValue)
    guard site < groupOfSite.count, groupOfSite[site] >= 0, event.time <= endTime else { return nil }
    return Int(groupOfSite[site])
  }

  @inline(__always)
  private func member(_ block: LiveBlock) -> Int32? {
    guard let place = places[block.address], members[Int(place)].ordinal == block.ordinal else { return nil }
    return place
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard let group = group(of: block, event) else { return }
    if let place = member(block) {
      groups[group].born += 1
      (members[Int(place)].births, members[Int(place)].passes) = (groups[group].births, groups[group].passes)
    }
    groups[group].births &+= 1
  }

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard let group = group(of: block, event), let place = member(block) else { return }
    let recent = groups[group].recent
    if place == recent.0 || place == recent.1 || place == recent.2 || place == recent.3 {
      continueVisit(of: Int(place), in: group, at: block.lastUse)
    } else {
      beginVisit(of: place, in: group, at: block.lastUse)
    }
  }

  private mutating func continueVisit(of place: Int, in group: Int, at time: UInt32) {
    let visit = Int(members[place].visit)
    if visit >= 0 {
      (groups[group].run[visit].end, groups[group].run[visit].birthsAtEnd) = (time, groups[group].births)
    } else if members[place].isSingle {
      members[place].note(at: time)
    }
  }

  private mutating func beginVisit(of place: Int32, in group: Int, at time: UInt32) {
    let recent = groups[group].recent
    let isInOrder = follows(place, recent.0) || follows(place, recent.1) || follows(place, recent.2)
    // The code that makes the objects visits them in order. The first loop over an array has the same order, and counts.
    let isFirst = members[Int(place)].run == 0
    if recent.0 >= 0, !isFirst { members[Int(recent.0)].next = place }
    if recent.1 >= 0, !isFirst { members[Int(recent.1)].nextButOne = place }
    groups[group].recent = (place, recent.0, recent.1, recent.2)

    let isRepeated = members[Int(place)].run == groups[group].number
    members[Int(place)].run = groups[group].number
    members[Int(place)].visit = Int32(groups[group].run.count)
    groups[group].run.append(
      Visit(
        member: place, start: time, end: time, births: groups[group].births,
        birthsAtEnd: groups[group].births, isRepeated: isRepeated,
        isInOrder: isInOrder))
    groups[group].repeated += isRepeated ? 1 : 0
    groups[group].repeatedLast = isRepeated ? groups[group].repeatedLast + 1 : 0
    let others = groups[group].run.count - groups[group].repeated
    if groups[group].repeated > Self.repeatedLimit + others / Self.visitsPerRepeated {
      endRun(of: group, after: groups[group].run.count - groups[group].repeatedLast)
    }
  }

  @inline(__always)
  private func follows(_ place: Int32, _ other: Int32) -> Bool { other >= 0 && members[Int(other)].precedes(place) }

  /// Ends a run after some visits. The next run begins with the other visits.
  private mutating func endRun(of group: Int, after count: Int) {
    let run = groups[group].run
    let different = run[..<count].count { !$0.isRepeated }
    let isPass = different >= Self.minPass && different * 2 >= groups[group].born
    if isPass { groups[group].passes += 1 }
    let isLoop = isPass && groups[group].passes > Self.freePasses
    for visit in run[..<count] where visit.isRepeated { members[Int(visit.member)].isVisitedTwice = true }
    for visit in run[..<count] {
      let member = Int(visit.member)
      // One visit of two is by the loop.
      let isSingle = !visit.isInOrder && !(isLoop && !members[member].isVisitedTwice)
      (members[member].visit, members[member].isSingle) = (Member.none, isSingle)
      if isSingle {
        members[member].note(at: visit.start)
        members[member].note(at: visit.end)
      }
      if !visit.isInOrder, !isPass || members[member].isVisitedTwice {
        members[member].noteUse(after: visit.births)
        members[member].noteUse(after: visit.birthsAtEnd)
      }
    }
    for visit in run[..<count] where visit.isRepeated { members[Int(visit.member)].isVisitedTwice = false }
    groups[group].number &+= 1
    (groups[group].repeated, groups[group].repeatedLast) = (0, 0)
    groups[group].run = Array(run[count...])
    for index in groups[group].run.indices {
      let member = Int(groups[group].run[index].member)
      groups[group].run[index].isRepeated = members[member].run == groups[group].number
      groups[group].repeated += groups[group].run[index].isRepeated ? 1 : 0
      (members[member].run, members[member].visit) = (groups[group].number, Int32(index))
    }
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
