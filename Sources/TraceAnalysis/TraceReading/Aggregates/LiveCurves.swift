// Curves of the live blocks of each allocation site in the course of the run.

/// Live blocks over the work of a process, in intervals of equal length. A value.
package struct LiveCurve: Hashable, Sendable {
  /// Events of the process before the first interval begins, and the events of each interval.
  let start: UInt64
  let width: UInt64
  /// Live blocks at the end of each interval. Past the last one nothing changed.
  let counts: [UInt32]

  /// Live blocks when the process had seen `ordinal` events, to the accuracy of an interval. Constant time.
  package func live(at ordinal: UInt64) -> UInt64 {
    guard ordinal >= start, let last = counts.last else { return 0 }
    let interval = (ordinal - start) / width
    return interval < counts.count ? UInt64(counts[Int(interval)]) : UInt64(last)
  }
}

/// The curves of all sites, each from its own first block on.
///
/// A curve has at most `intervals` intervals; their length doubles when the site's life outgrows them. A site that had
/// no live block at the end of any interval so far has none: that is true of most sites of most programs. Memory: a
/// line of the cache for each other site. Constant time an event, amortised. A reference in all but name, as `RowTable`
/// is.
package struct LiveCurves: BitwiseCopyable {
  package static let intervals = 32
  /// The first intervals are of 2^4 events: shorter ones would show single calls.
  private static let firstShift = 4
  /// And no shorter than a 1024th of the run before the site's first block: a site of a long run that is as short-lived
  /// as that needs no curve.
  private static let shareOfRun = 10

  /// One `Count` for each interval.
  typealias Counts = SIMD32<UInt16>

  /// A site's row: the last place in its curve.
  struct Position: BitwiseCopyable {
    /// 1 more than the index of the curve; 0 while the curve is all zero.
    fileprivate var curve: UInt32 = 0
    fileprivate var interval: UInt16 = 0
    fileprivate var shift: UInt16 = 0
  }

  private let curves: RowTable<Counts>

  init(ownedBy owner: TableOwner) { curves = RowTable(blank: Counts(), ownedBy: owner) }

  /// Returns the beginning of a site's curve, whose first block comes after so many events of the process.
  static func begin(at ordinal: UInt64) -> Position {
    var position = Position()
    position.shift = UInt16(max(firstShift, 64 - ordinal.leadingZeroBitCount - shareOfRun))
    return position
  }

  /// Notes that something happens to a site. `age`: events of the process since the site's first block. `live`: its
  /// live blocks before that.
  @inline(__always)
  func advance(_ position: inout Position, age: UInt64, live: UInt64) {
    if age &>> UInt64(position.shift) != UInt64(position.interval) { leaveInterval(&position, age: age, live: live) }
  }

  @inline(never)
  private func leaveInterval(_ position: inout Position, age: UInt64, live: UInt64) {
    var shift = UInt64(position.shift)
    // An event of another thread may have been counted before.
    guard age >> shift > UInt64(position.interval) else { return }
    while age >> shift >= UInt64(Self.intervals) { shift += 1 }
    if live > 0 || position.curve > 0 {
      settle(&position, shift: shift, interval: Int(age >> shift), live: Self.packed(live))
    }
    position.shift = UInt16(shift)
    position.interval = UInt16(age >> shift)
  }

  /// Fills in a time without changes, up to an interval of a length.
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
        // The last of the short intervals that make a long one counts.
        let whole = step < 16 ? known >> Int(step) : 0
        for long in 0..<whole { counts[long] = counts[((long + 1) << Int(step)) - 1] }
        known = whole
      }
      if known < interval { for empty in known..<interval { counts[empty] = live } }
    }
  }

  /// The curve of a site at the end. `start`: events of the process before its first block. `live`: its live blocks
  /// now.
  func curve(_ position: Position, start: UInt64, live: UInt64) -> LiveCurve {
    let counts = position.curve == 0 ? Counts() : curves[Int(position.curve) - 1].pointee
    let settled = (0...Int(position.interval)).map {
      $0 < Int(position.interval) ? UInt32(Self.unpacked(counts[$0])) : UInt32(clamping: live)
    }
    return LiveCurve(start: start, width: 1 << UInt64(position.shift), counts: settled)
  }

  // MARK: Counts

  /// Numbers below 2,048 exactly, others to a 1,024th: eleven bits, and how many bits they are followed by. Never too
  /// high.
  static func packed(_ count: UInt64) -> UInt16 {
    let extra = max(0, 64 - count.leadingZeroBitCount - 11)
    return extra > 31 ? .max : UInt16(extra) << 11 | UInt16(count >> UInt64(extra))
  }

  static func unpacked(_ count: UInt16) -> UInt64 { UInt64(count & 0x7FF) << UInt64(count >> 11) }
}
