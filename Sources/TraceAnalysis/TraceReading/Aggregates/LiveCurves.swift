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
/// A curve has at most `intervals` intervals; their length doubles when the site's life outgrows them. A site gets a
/// curve only when it has a live block at the end of an interval; most sites of most programs never do. Memory: one
/// cache line for each curve. Amortised constant time for each event. Copies share the curves, as with a class.
package struct LiveCurves: BitwiseCopyable {
  package static let intervals = 32
  /// A curve's first intervals have at least 2^4 events: shorter intervals would show single calls.
  private static let firstShift = 4
  /// The first intervals also have at least 1/1024 (2^-10) of the events before the site's first block. A site that
  /// lives for less than this part of a long run needs no curve.
  private static let shareOfRun = 10

  /// A packed count for each interval; see `packed`.
  typealias Counts = SIMD32<UInt16>

  /// The interval that a site has reached in its curve. A part of the site's row.
  struct Position: BitwiseCopyable {
    /// The index of the curve plus 1; 0 while all counts of the curve would be 0.
    fileprivate var curve: UInt32 = 0
    fileprivate var interval: UInt16 = 0
    fileprivate var shift: UInt16 = 0
  }

  private let curves: RowTable<Counts>

  init(ownedBy owner: TableOwner) { curves = RowTable(blank: Counts(), ownedBy: owner) }

  /// Returns the beginning of the curve of a site whose first block comes after `ordinal` events of the process.
  static func begin(at ordinal: UInt64) -> Position {
    var position = Position()
    position.shift = UInt16(max(firstShift, 64 - ordinal.leadingZeroBitCount - shareOfRun))
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
    guard age >> shift > UInt64(position.interval) else { return }
    while age >> shift >= UInt64(Self.intervals) { shift += 1 }
    if live > 0 || position.curve > 0 {
      settle(&position, shift: shift, interval: Int(age >> shift), live: Self.packed(live))
    }
    position.shift = UInt16(shift)
    position.interval = UInt16(age >> shift)
  }

  /// Fills the intervals before `interval` with `live`, because nothing changed there. Lengthens all intervals to
  /// 2^`shift` events.
  private func settle(_ position: inout Position, shift: UInt64, interval: Int, live: UInt16) {
    if position.curve == 0 {
      let index = curves.count
      curves.reach(index)
      curves[index].pointee = Counts()
      position.curve = UInt32(index + 1)
    }
    curves[Int(position.curve) - 1].withMemoryRebound(to: UInt16.self, capacity: Self.intervals) { counts in
      let step = shift - UInt64(position.shift)
      var known = Int(position.interval)
      if step > 0 {
        // A long interval gets the count of the last short interval in it.
        let whole = step < 16 ? known >> Int(step) : 0
        for long in 0..<whole { counts[long] = counts[((long + 1) << Int(step)) - 1] }
        known = whole
      }
      if known < interval { for empty in known..<interval { counts[empty] = live } }
    }
  }

  /// Returns the curve of a site at the end of the replay. `start`: events of the process before the site's first
  /// block. `live`: the site's live blocks at the end.
  func curve(_ position: Position, start: UInt64, live: UInt64) -> LiveCurve {
    let counts = position.curve == 0 ? Counts() : curves[Int(position.curve) - 1].pointee
    let settled = (0...Int(position.interval)).map {
      $0 < Int(position.interval) ? UInt32(Self.unpacked(counts[$0])) : UInt32(clamping: live)
    }
    return LiveCurve(start: start, width: 1 << UInt64(position.shift), counts: settled)
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
