// Curves of the live blocks of each allocation site in the course of the run.

/// The number of a site's live blocks over the work of a process, in intervals of equally many events.
package struct LiveCurve: Hashable, Sendable {
  /// `start`: the number of events of the process before the first interval. `width`: the number of events in each
  /// interval.
  let start: UInt64
  let width: UInt64
  /// Live blocks at the end of each interval. The number did not change after the last interval.
  let counts: [UInt32]

  /// Returns the live blocks after the first `ordinal` events of the process, accurate to an interval. Constant time.
  package func live(at ordinal: UInt64) -> UInt64 {
    guard ordinal >= start, let last = counts.last else { return 0 }
    let interval = (ordinal - start) / width
    return interval < counts.count ? UInt64(counts[Int(interval)]) : UInt64(last)
  }
}

/// The curves of all sites. Each curve begins with the site's first block.
///
/// A curve has at most `intervals` intervals; their length doubles when the site's life outgrows them. As long as a site
/// has at most one live block at the end of each interval, the site's own row has the curve: a bit for each interval.
/// That is so for most sites of most programs. Other curves take a cache line each. Amortised constant time for each
/// event. Copies share the curves, as with a class.
package struct LiveCurves: BitwiseCopyable {
  package static let intervals = 32
  /// A curve's first intervals have at least 2^4 events: shorter intervals would show single calls.
  private static let firstShift = 4
  /// The first intervals also have at least 1/1024 (2^-10) of the events before the site's first block. A site that
  /// lives for less than this part of a long run needs no finer curve.
  private static let shareOfRun = 10

  /// A packed count for each interval; see `packed`.
  typealias Counts = SIMD32<UInt16>

  /// The interval that a site has reached in its curve. A part of the site's row.
  struct Position: BitwiseCopyable {
    /// If `isApart`, the index of the curve. Otherwise the curve: bit n is set if a block was live at the end of
    /// interval n.
    fileprivate var curve: UInt32 = 0
    fileprivate var interval: UInt8 = 0
    fileprivate var shift: UInt8 = 0
    /// True if the counts are in the table of curves.
    fileprivate var isApart = false
  }

  private let curves: RowTable<Counts>

  init(ownedBy owner: TableOwner) { curves = RowTable(blank: Counts(), ownedBy: owner) }

  /// Returns the beginning of the curve of a site whose first block comes after `ordinal` events of the process.
  static func begin(at ordinal: UInt64) -> Position {
    var position = Position()
    position.shift = UInt8(max(firstShift, 64 - ordinal.leadingZeroBitCount - shareOfRun))
    return position
  }

  /// Advances a site's position to an event that allocates or frees one of its blocks. `age`: events of the process
  /// since the site's first block. `live`: the site's live blocks before the event.
  @inline(__always)
  func advance(_ position: inout Position, age: UInt64, live: UInt64) {
    if age &>> UInt64(position.shift) != UInt64(position.interval) { leaveInterval(&position, age: age, live: live) }
  }

  @inline(never)
  private func leaveInterval(_ position: inout Position, age: UInt64, live: UInt64) {
    var shift = UInt64(position.shift)
    // An event that had to wait for another thread's event may have a lower age than the previous one.
    guard age &>> shift > UInt64(position.interval) else { return }
    // There are 2^5 intervals. So an age of n bits needs intervals of 2^(n − 5) events.
    shift = max(shift, UInt64(truncatingIfNeeded: max(0, 64 - 5 - age.leadingZeroBitCount)))
    let interval = Int(truncatingIfNeeded: age &>> shift)
    let step = Int(truncatingIfNeeded: shift) &- Int(position.shift)
    if live > 1, !position.isApart { move(&position) }
    if position.isApart {
      settle(position, step: step, interval: interval, live: Self.packed(live))
    } else {
      position.curve = Self.settled(position, step: step, interval: interval, live: UInt32(truncatingIfNeeded: live))
    }
    position.shift = UInt8(truncatingIfNeeded: shift)
    position.interval = UInt8(truncatingIfNeeded: interval)
  }

  /// Returns the number of intervals that stay known if 2^`step` intervals become one.
  private static func known(_ position: Position, step: Int) -> Int {
    step < 8 ? Int(position.interval) >> step : 0
  }

  /// Returns the bits of a curve after `settle`. `live`: 0 or 1.
  private static func settled(_ position: Position, step: Int, interval: Int, live: UInt32) -> UInt32 {
    var bits = position.curve
    var known = Int(position.interval)
    if step > 0 {
      known = Self.known(position, step: step)
      for _ in 0..<min(step, 5) { bits = oddBits(bits) }
      bits &= below(known)
    }
    return live == 0 || known >= interval ? bits : bits | below(interval) & ~below(known)
  }

  /// Returns a word whose `count` lowest bits are set. `count`: at most 32.
  @inline(__always)
  private static func below(_ count: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: (1 as UInt64) &<< UInt64(truncatingIfNeeded: count) &- 1)
  }

  /// Returns the bits 1, 3, 5 and so on, side by side from bit 0. Each of them is the last of two intervals. Source:
  /// Warren, Hacker's Delight, section 7-4.
  @inline(__always)
  private static func oddBits(_ bits: UInt32) -> UInt32 {
    var bits = bits &>> 1 & 0x5555_5555
    bits = (bits | bits &>> 1) & 0x3333_3333
    bits = (bits | bits &>> 2) & 0x0F0F_0F0F
    bits = (bits | bits &>> 4) & 0x00FF_00FF
    return (bits | bits &>> 8) & 0x0000_FFFF
  }

  /// Fills the intervals before `interval` with `live`, because nothing changed there. Joins 2^`step` intervals into
  /// one. A long interval gets the count of the last short interval in it.
  private func settle(_ position: Position, step: Int, interval: Int, live: UInt16) {
    curves[Int(position.curve)].withMemoryRebound(to: UInt16.self, capacity: Self.intervals) { counts in
      var known = Int(position.interval)
      if step > 0 {
        known = Self.known(position, step: step)
        for long in 0..<known { counts[long] = counts[((long + 1) << step) - 1] }
      }
      if known < interval { for empty in known..<interval { counts[empty] = live } }
    }
  }

  /// Moves a curve from the site's row to the table.
  private func move(_ position: inout Position) {
    let index = curves.count
    curves.reach(index)
    curves[index].pointee = Self.counts(position.curve)
    (position.curve, position.isApart) = (UInt32(index), true)
  }

  private static func counts(_ bits: UInt32) -> Counts {
    var counts = Counts()
    for interval in 0..<intervals { counts[interval] = UInt16(bits >> UInt32(interval) & 1) }
    return counts
  }

  /// Returns the curve of a site at the end of the replay. `start`: events of the process before the site's first
  /// block. `live`: the site's live blocks at the end.
  func curve(_ position: Position, start: UInt64, live: UInt64) -> LiveCurve {
    let counts = position.isApart ? curves[Int(position.curve)].pointee : Self.counts(position.curve)
    let settled = (0...Int(position.interval)).map {
      $0 < Int(position.interval) ? UInt32(Self.unpacked(counts[$0])) : UInt32(clamping: live)
    }
    return LiveCurve(start: start, width: 1 << UInt64(position.shift), counts: settled)
  }

  /// Adds the live blocks of a site to `sums`. The sum at index n counts the blocks after the first n × `step` events of
  /// the process. The other arguments are as in `curve`. Constant time for a site that has no block at these moments.
  func addLive(_ position: Position, start: UInt64, live: UInt64, every step: UInt64, to sums: inout [UInt64]) {
    if !position.isApart, position.curve == 0, live == 0 { return }
    let counts = position.isApart ? curves[Int(position.curve)].pointee : Counts()
    // The site has no block before its first one.
    let first = step == 0 ? 0 : Int(clamping: start / step)
    for index in sums.indices.dropFirst(first) {
      let moment = step &* UInt64(index)
      guard moment >= start else { continue }
      let interval = (moment - start) >> UInt64(position.shift)
      if interval >= UInt64(position.interval) {
        sums[index] &+= UInt64(UInt32(clamping: live))
      } else if position.isApart {
        sums[index] &+= Self.unpacked(counts[Int(interval)])
      } else {
        sums[index] &+= UInt64(position.curve >> UInt32(interval) & 1)
      }
    }
  }

  // MARK: Counts

  /// Packs a count into 16 bits: its eleven highest bits, and the number of lower bits that were cut off. Numbers below
  /// 2,048 are exact. Others are too low by less than a 1,024th.
  static func packed(_ count: UInt64) -> UInt16 {
    let extra = max(0, 64 - count.leadingZeroBitCount - 11)
    return extra > 31 ? .max : UInt16(extra) << 11 | UInt16(count >> UInt64(extra))
  }

  static func unpacked(_ count: UInt16) -> UInt64 { UInt64(count & 0x7FF) << UInt64(count >> 11) }
}
