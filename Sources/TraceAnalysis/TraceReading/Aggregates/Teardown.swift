// Finds the owners of objects that a program freed shortly before its end.

/// The ends of blocks after a moment: the *peak*, or the last birth of a chosen object. The peak is the last moment with
/// the maximum number of live chosen objects.
///
/// Many programs keep their objects in a local variable of a function. When the function returns, all of them end, so a
/// heap image at exit shows none. The events still show which objects were live at the peak, and which object's end
/// ended each of them.
package struct Teardown: Sendable {
  /// The moment after which ends count.
  package enum Moment: Sendable, BitwiseCopyable {
    case peak, lastBirth
  }

  /// The end of a block.
  package struct End: Hashable, Sendable, BitwiseCopyable {
    /// The position among the ends.
    package var order: UInt32
    /// The number of the cascade: all ends that one release of the program set off have the same number.
    package var cascade: UInt32
    /// The address of the object whose end freed the block; nil if a function of the program ended it.
    package var owner: UInt64?
    /// The stack of the release that ended the block, or of its free; `.unknown` unless the search looked it up.
    package var stack: StackID
    package var site: SiteID
  }

  /// A moment before all of the ends, in ticks.
  package var time: UInt64
  /// The number of blocks that the process had made by then, as a share of all blocks.
  package var share: Double
  /// The chosen objects that were live at the moment, and at the end of the trace.
  package var peak: Int
  package var rest: Int
  /// The most chosen objects that were live in the first half of the births between the first of them and the peak.
  package var earlierPeak: Int
  package var ends: [BlockIdentity: End]
}

/// Searches for the teardown of a process. While an object ends, its thread frees what only this object kept. So the
/// owner of a block is the object whose end was in progress when the block was freed. An end is in progress from the
/// release that leaves no references to the free, in deeper frames of the stack than that release.
///
/// Memory: at most 40 bytes for each live Swift object, and 140 bytes for each block freed after the moment. An event takes
/// constant expected time.
package struct TeardownSearch: ReplayObserver {
  private struct Dying: BitwiseCopyable {
    var address: UInt64
    var depth: UInt32
    var cascade: UInt32
    var stack: StackID
  }

  private let isChosen: [Bool]
  private let moment: Teardown.Moment
  private let endTime: UInt64
  private let limit: Int
  private var counts: [UInt64: Int32] = [:]
  /// By thread: the objects whose end is in progress, the outermost first.
  private var dying: [UInt32: [Dying]] = [:]
  /// The number of cascades so far.
  private var cascades: UInt32 = 0
  private var live = 0
  /// The number of blocks that were made, until now and until the peak.
  private var births: UInt64 = 0
  private var birthsAtPeak: UInt64 = 0
  private var found = Teardown(time: 0, share: 0, peak: 0, rest: 0, earlierPeak: 0, ends: [:])
  /// The number of blocks that were made when the first chosen object was made, and when the number of live ones
  /// reached the peak.
  private var birthsUntilFirst: UInt64 = 0
  private var birthsUntilPeak: UInt64 = 0
  /// The most live chosen objects during each `width` births.
  private var course = [Int](repeating: 0, count: courseLength)
  private var width: UInt64 = 16
  private static let courseLength = 64
  /// Whether a chosen object has ended since the peak.
  private var hasEnded = false
  /// Whether a chosen object ended at the time of the peak. A thread reads the clock only now and then.
  private var isTimeShared = false
  private var isOverLimit = false

  /// - Parameter sites: the sites of the chosen objects.
  /// - Parameter endTime: ticks. Later events are ignored.
  /// - Parameter limit: the maximum number of live objects, and of ends.
  package init(_ sites: [SiteID], after moment: Teardown.Moment, until endTime: UInt64, limit: Int) {
    var isChosen = [Bool](repeating: false, count: sites.map { Int($0.rawValue) + 1 }.max() ?? 0)
    for site in sites { isChosen[Int(site.rawValue)] = true }
    (self.isChosen, self.moment, self.endTime, self.limit) = (isChosen, moment, endTime, limit)
  }

  /// Returns the teardown; nil if there is none, or if the limits of `reader` do not allow a pass over the events. Looks
  /// up the stacks of the ends of the blocks at some addresses. Takes one pass over the events.
  package static func search(
    _ sites: [SiteID], after moment: Teardown.Moment, until endTime: UInt64, limit: Int,
    stacksAt addresses: [UInt64] = [], in reader: TraceReader
  ) -> Teardown? {
    var replayer = Replayer(TeardownSearch(sites, after: moment, until: endTime, limit: limit), for: reader)
    let stacks = addresses.isEmpty ? StackSelection.allocations : .chosen(AddressFilter(addresses))
    guard reader.replay(into: &replayer, stacks: stacks) else { return nil }
    return replayer.observer.teardown
  }

  /// The teardown; nil if there were too many objects.
  package var teardown: Teardown? {
    guard !isOverLimit else { return nil }
    var teardown = found
    teardown.rest = live
    // A program may make many other blocks before it begins its work.
    teardown.earlierPeak = course[...Int((birthsUntilFirst + birthsUntilPeak) / 2 / width)].max() ?? 0
    teardown.share = Double(birthsAtPeak) / Double(max(1, births))
    if isTimeShared { teardown.time -= min(1, teardown.time) }
    return teardown
  }

  @inline(__always)
  private func isChosen(_ block: LiveBlock) -> Bool {
    Int(block.site.rawValue) < isChosen.count && isChosen[Int(block.site.rawValue)]
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, !isOverLimit else { return }
    births += 1
    if event.operation == .object {
      counts[block.address] = 1
      isOverLimit = counts.count > limit
    }
    if isChosen(block) {
      if found.peak == 0 { birthsUntilFirst = births }
      live += 1
      note(live)
      if live >= found.peak || moment == .lastBirth { (found.peak, birthsUntilPeak, hasEnded) = (live, births, false) }
    }
    goOn(event)
  }

  /// Adds a number of live chosen objects to the course. If the course is full, each two parts of it become one.
  private mutating func note(_ live: Int) {
    while births / width >= UInt64(Self.courseLength) {
      for index in 0..<Self.courseLength / 2 { course[index] = max(course[2 * index], course[2 * index + 1]) }
      for index in Self.courseLength / 2..<Self.courseLength { course[index] = 0 }
      width *= 2
    }
    let index = Int(births / width)
    course[index] = max(course[index], live)
  }

  /// Moves the moment of the heap to an event if all chosen objects are still live and no end is in progress. After the
  /// last of them was made, the program may read all of them.
  @inline(__always)
  private mutating func goOn(_ event: TraceEvent) {
    guard !hasEnded, found.peak > 0, dying[event.thread]?.isEmpty ?? true else { return }
    (found.time, birthsAtPeak, isTimeShared) = (event.time, births, false)
    // Without its capacity, so that clearing takes time in proportion to the ends.
    if !found.ends.isEmpty { found.ends = [:] }
  }

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, let place = counts.index(forKey: block.address) else { return }
    let count = Int64(counts.values[place]) &+ HistoryEvent(event).change
    counts.values[place] = Int32(clamping: count)
    leave(event)
    guard count <= 0, event.operation.effect == .release else {
      goOn(event)
      return
    }
    let cascade = cascade(on: event.thread)
    dying[event.thread, default: []].append(
      Dying(address: block.address, depth: event.depth, cascade: cascade, stack: event.stack))
  }

  /// Returns the number of the cascade of an end that begins.
  private mutating func cascade(on thread: UInt32) -> UInt32 {
    if let outer = dying[thread]?.last { return outer.cascade }
    cascades &+= 1
    return cascades
  }

  /// Removes the objects whose end is no longer in progress.
  private mutating func leave(_ event: TraceEvent) {
    while let last = dying[event.thread]?.last, last.depth >= event.depth { dying[event.thread]!.removeLast() }
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, !isOverLimit else { return }
    counts[block.address] = nil
    var stack = event.stack
    let number: UInt32
    if let index = dying[event.thread]?.lastIndex(where: { $0.address == block.address }) {
      let end = dying[event.thread]![index]
      (stack, number) = (end.stack, end.cascade)
      dying[event.thread]!.removeSubrange(index...)
    } else {
      leave(event)
      number = cascade(on: event.thread)
    }
    if isChosen(block) {
      live -= 1
      hasEnded = true
      if event.time == found.time { isTimeShared = true }
    }
    guard found.peak > 0 else { return }
    found.ends[block.identity] = Teardown.End(
      order: UInt32(clamping: found.ends.count), cascade: number, owner: dying[event.thread]?.last?.address,
      stack: stack, site: block.site)
    isOverLimit = found.ends.count > limit
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
