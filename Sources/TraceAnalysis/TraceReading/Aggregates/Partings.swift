// Finds when owners let objects go, and how long the objects lived on.

/// Finds the *parting* of each object of some sites: the moment when an owner that had the object for long let it go,
/// while other owners kept it.
///
/// Two collections may have one object. Code that is done with the object removes it from both. If it removes the object
/// from one only, the object lives on. The number of references shows both: it falls, and stays there.
///
/// A *level* is a number of references. An object parts at a level when its references fall to this number, after they
/// were more for a long time. Short uses take a reference and give it back, so they are no owners. A *lone life* is a
/// time with at most this number of references: after a parting until a new owner or the end, or before the first such
/// owner.
///
/// Memory: at most 800 bytes for each object of the chosen sites that is live. An event takes constant expected time.
package struct Partings: ReplayObserver {
  /// A number of events of the chosen sites, and ticks.
  package struct Moment: Hashable, Sendable, BitwiseCopyable {
    package var work: UInt32 = 0
    package var time: UInt64 = 0

    package init(work: UInt32 = 0, time: UInt64 = 0) { (self.work, self.time) = (work, time) }

    static func - (a: Self, b: Self) -> Self { Self(work: a.work &- b.work, time: a.time - min(a.time, b.time)) }
  }

  /// The parting of one object.
  package struct Parting: Hashable, Sendable, BitwiseCopyable {
    /// The moment of the parting, since the first event of the chosen sites.
    package var moment: Moment
    /// The span from the parting to the object's end, or to the end of the trace.
    package var after: Moment
    /// The object's age at the parting, in events of the process.
    package var age: UInt64
  }

  /// The objects that parted at one level, and have ended.
  package struct Ended: Hashable, Sendable, BitwiseCopyable {
    package fileprivate(set) var count: UInt64 = 0
    /// The work before the last parting, and before the last but one.
    package fileprivate(set) var last: UInt32 = 0
    package fileprivate(set) var lastButOne: UInt32 = 0

    fileprivate mutating func add(_ parting: UInt32) {
      if parting > last { (last, lastButOne) = (parting, last) } else { lastButOne = max(lastButOne, parting) }
    }
  }

  /// The partings of some sites together.
  package struct Result: Sendable {
    /// By level, from level 1.
    package fileprivate(set) var ended = [Ended](repeating: Ended(), count: levels)
    /// By level: the longest lone life of an object, in work and in time. Lone lives that go on do not count.
    package fileprivate(set) var lone = [Moment](repeating: Moment(), count: levels)
    /// By block, with the block's last level: the partings of blocks that are live.
    package fileprivate(set) var live: [BlockIdentity: (level: Int, parting: Parting)] = [:]

    package init() {}

    package static func += (a: inout Self, b: Self) {
      for index in a.ended.indices {
        a.ended[index].count += b.ended[index].count
        a.ended[index].add(b.ended[index].last)
        a.ended[index].add(b.ended[index].lastButOne)
        a.note(b.lone[index], at: index + 1)
      }
      a.live.merge(b.live) { first, _ in first }
    }

    fileprivate mutating func note(_ lone: Moment, at level: Int) {
      let known = self.lone[level - 1]
      self.lone[level - 1] = Moment(work: max(known.work, lone.work), time: max(known.time, lone.time))
    }
  }

  /// One level of a live object.
  private struct Level: BitwiseCopyable {
    /// The moment when the references became more than this number.
    var since = Moment()
    /// The longest span with more references, in events of the chosen sites.
    var longest: UInt32 = 0
    /// The end of the last long span with more references.
    var end = Moment()
    var age: UInt64 = 0
    var lone = Moment()
    var hasParted = false
    var isAbove = false

    mutating func rise(at now: Moment) { (since, isAbove) = (now, true) }

    mutating func fall(at now: Moment, birth: Moment, age: UInt64) {
      isAbove = false
      let span = now.work &- since.work
      guard UInt64(span) * Partings.shortUse >= UInt64(longest) else { return }
      if UInt64(span) > UInt64(longest) * Partings.shortUse {
        // The spans before were short uses.
        lone = since - birth
      } else if (since - end).work > lone.work {
        lone = since - end
      }
      longest = max(longest, span)
      (end, self.age, hasParted) = (now, age, true)
    }

    /// Returns the longest lone life that has ended. `hasEnded`: whether the object has ended.
    func lone(since birth: Moment, until now: Moment, hasEnded: Bool) -> Moment {
      let isOwnedAgain = isAbove && UInt64(now.work &- since.work) * Partings.shortUse >= UInt64(longest)
      let beginning = hasParted ? end : birth
      let last = isOwnedAgain ? since - beginning : hasEnded ? now - beginning : Moment()
      return last.work > lone.work ? last : lone
    }

    func parting(since birth: Moment, until now: Moment) -> Parting? {
      guard hasParted, UInt64(longest) * Partings.minOwned >= UInt64(end.work &- birth.work) else { return nil }
      return Parting(moment: end, after: now - end, age: age)
    }
  }

  private struct Member: BitwiseCopyable {
    var identity: BlockIdentity
    var birth: Moment
    var site: Int32
    var count: Int64
    var levels = (Level(), Level(), Level())

    mutating func change(to new: Int64, at now: Moment, age: UInt64) {
      let old = count
      count = new
      for level in Int64(1)...Int64(Partings.levels) {
        if old <= level, new > level {
          update(level) { $0.rise(at: now) }
        } else if old > level, new <= level {
          update(level) { [birth] in $0.fall(at: now, birth: birth, age: age) }
        }
      }
    }

    @inline(__always)
    private mutating func update(_ level: Int64, _ change: (inout Level) -> Void) {
      switch level {
      case 1: change(&levels.0)
      case 2: change(&levels.1)
      default: change(&levels.2)
      }
    }

    func parting(at level: Int, until now: Moment) -> Parting? {
      self[level]?.parting(since: birth, until: now)
    }

    subscript(level: Int) -> Level? {
      switch level {
      case 1: levels.0
      case 2: levels.1
      case 3: levels.2
      default: nil
      }
    }
  }

  /// The highest level. Few objects have more owners than this.
  package static let levels = 3
  /// A span with more references is a short use if it lasts less than this part of the longest one.
  private static let shortUse: UInt64 = 8
  /// An owner must have an object for at least this part of its life before the parting.
  private static let minOwned: UInt64 = 4

  /// By site: its index in `results`; -1 if the site is not chosen.
  private let chosen: [Int32]
  private let sites: [SiteID]
  private let endTime: UInt64
  private var now = Moment()
  private var members: [UInt64: Member] = [:]
  private var results: [Result]
  private let limit: Int
  /// Whether there were more live objects than `limit`. Then there is no result.
  private var isOverLimit = false

  /// - Parameter endTime: ticks. Later events are ignored.
  /// - Parameter limit: the maximum number of live objects.
  package init(_ sites: [SiteID], until endTime: UInt64, limit: Int) {
    var chosen = [Int32](repeating: -1, count: sites.map { Int($0.rawValue) + 1 }.max() ?? 0)
    for (index, site) in sites.enumerated() { chosen[Int(site.rawValue)] = Int32(index) }
    (self.chosen, self.sites, self.endTime, self.limit) = (chosen, sites, endTime, limit)
    results = sites.map { _ in Result() }
  }

  /// Returns the partings by site; nil if the limits of `reader` do not allow a pass over the events, or if more than
  /// `limit` objects are live at one time. Takes one pass over the events.
  package static func collect(_ sites: [SiteID], until endTime: UInt64, limit: Int, in reader: TraceReader)
    -> [SiteID: Result]?
  {
    var replayer = Replayer(Partings(sites, until: endTime, limit: limit), for: reader)
    guard reader.replay(into: &replayer, stacks: .allocations) else { return nil }
    return replayer.observer.finish()
  }

  /// Returns the result. Call once, after the last event.
  package mutating func finish() -> [SiteID: Result]? {
    guard !isOverLimit else { return nil }
    for (_, member) in members {
      for level in 1...Self.levels { note(member, at: level, hasEnded: false) }
      let level = Int(clamping: member.count)
      guard let parting = member.parting(at: level, until: now) else { continue }
      results[Int(member.site)].live[member.identity] = (level, parting)
    }
    members = [:]
    return Dictionary(zip(sites, results)) { first, _ in first }
  }

  @inline(__always)
  private func index(of block: LiveBlock, _ event: TraceEvent) -> Int32? {
    let site = Int(block.site.rawValue)
    guard site < chosen.count, chosen[site] >= 0, event.time <= endTime else { return nil }
    return chosen[site]
  }

  @inline(__always)
  private mutating func tick(_ event: TraceEvent) { now = Moment(work: now.work &+ 1, time: event.time) }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard let site = index(of: block, event), !isOverLimit else { return }
    tick(event)
    members[block.address] = Member(
      identity: block.identity, birth: now, site: site, count: HistoryEvent(event).change)
    isOverLimit = members.count > limit
  }

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard index(of: block, event) != nil, let place = members.index(forKey: block.address) else { return }
    let change = HistoryEvent(event).change
    tick(event)
    guard change != 0 else { return }
    let age = UInt64(block.lastUse) * LiveBlock.useUnit
    let count = members.values[place].count &+ change
    members.values[place].change(to: count, at: now, age: age - min(age, block.ordinal))
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard index(of: block, event) != nil, let member = members.removeValue(forKey: block.address) else { return }
    tick(event)
    for level in 1...Self.levels {
      if let parting = member.parting(at: level, until: now) {
        results[Int(member.site)].ended[level - 1].count += 1
        results[Int(member.site)].ended[level - 1].add(parting.moment.work)
      }
      note(member, at: level, hasEnded: true)
    }
  }

  private mutating func note(_ member: Member, at level: Int, hasEnded: Bool) {
    guard let lone = member[level]?.lone(since: member.birth, until: now, hasEnded: hasEnded) else { return }
    results[Int(member.site)].note(lone, at: level)
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
