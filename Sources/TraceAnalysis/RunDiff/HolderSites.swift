// Types and holders of a heap image in the place of allocation sites, which inspections and light recordings lack.

import LeakDetection
import TraceReading

/// A process that was looked at, and the moment.
package struct InspectedMoment: Codable, Hashable, Sendable {
  /// Nanoseconds of CLOCK_MONOTONIC at which the process began; 0 if that is not known, as of a core.
  package var processStart: UInt64
  /// Nanoseconds since then.
  package var age: UInt64

  package init(processStart: UInt64, age: UInt64) { (self.processStart, self.age) = (processStart, age) }

  /// Of seconds; a trace may claim any time.
  static func nanoseconds(_ seconds: Double) -> UInt64 {
    seconds > 0 && seconds < 1e9 ? UInt64(seconds * 1e9) : 0
  }
}

extension RunDigest {
  /// Sites are types and what holds them, in this digest or one of an earlier version, which has those of inspections
  /// alone.
  package var hasHolders: Bool { listsHolders ?? (inspected != nil) }

  /// The operation of rows that stand for types and holders, in digests of all versions.
  private static let operationOfHolders = "inspected"

  /// Puts the census of a heap image in the place of the sites: what keeps objects stands where the function that
  /// allocated them would.
  package mutating func replaceSites(with census: HolderCensus) {
    (sites, listsHolders) = ([], true)
    var places: [String: (frame: Int32, stack: Int32)] = [:]
    for row in census.rows {
      let holder = "held by \(row.key.holder)"
      let place =
        places[holder]
        ?? {
          frames.append(DiffFrame(function: holder, stableName: holder))
          stacks.append(StackNode(caller: -1, frame: Int32(frames.count - 1)))
          return (Int32(frames.count - 1), Int32(stacks.count - 1))
        }()
      places[holder] = place
      var total = SiteTotal()
      total.liveBytes = row.bytes
      total.liveBlocks = row.objects
      sites.append(
        Site(
          type: row.key.type, operation: Self.operationOfHolders, innermost: place.frame, stack: place.stack,
          total: total))
    }
    var all = SiteTotal()
    (all.liveBytes, all.liveBlocks) = (census.bytes, census.objects)
    total = all
  }

  /// The same with one holder for blocks without a type that nothing of the program's holds. Libraries keep free memory
  /// in chains that begin in a thread's own variables, and of which scanning sees more or less: of two equal runs of a
  /// program with tasks, one had 192 blocks of libdispatch's held by nothing and 75 by such variables, the other 73 and
  /// 193.
  var withJoinedHolders: RunDigest {
    guard hasHolders else { return self }
    var result = self
    var joined: Int32?
    for (index, site) in sites.enumerated() where Self.untyped.contains(site.type) && site.innermost >= 0 {
      guard Self.passingHolders.contains(frames[Int(site.innermost)].stableName) else { continue }
      let frame =
        joined
        ?? {
          result.frames.append(DiffFrame(function: Self.joinedHolder, stableName: Self.joinedHolder))
          result.stacks.append(StackNode(caller: -1, frame: Int32(result.frames.count - 1)))
          return Int32(result.frames.count - 1)
        }()
      joined = frame
      (result.sites[index].innermost, result.sites[index].stack) = (frame, Int32(result.stacks.count - 1))
    }
    return result
  }

  private static let joinedHolder = "held by nothing of the program's"
  private static let passingHolders = Set(HolderCensus.HolderName.all.map { "held by \($0)" })
  /// Functions that allocate, which blocks without a type are called by.
  private static let untyped = Set((0...UInt8.max).map { Operation(rawValue: $0).name })

  /// Both are of one process: equal number and program, and begun at the same moment, which two readings of the clock
  /// give to within `clockSlack`.
  func isOfSameProcess(as other: RunDigest) -> Bool {
    guard let own = inspected, let others = other.inspected, own.processStart > 0, others.processStart > 0,
      let origin, let otherOrigin = other.origin, origin.process == otherOrigin.process, program == other.program,
      origin.buildID == otherOrigin.buildID
    else { return false }
    let (a, b) = (own.processStart, others.processStart)
    return max(a, b) - min(a, b) < Self.clockSlack
      && max(origin.startTime, otherOrigin.startTime) - min(origin.startTime, otherOrigin.startTime) < Self.clockChange
  }

  /// Nanoseconds: five ticks of the clock that the kernel notes starts by.
  private static let clockSlack: UInt64 = 50_000_000
  /// Nanoseconds by which somebody may have set the clock of the day meanwhile. A machine that was started again has
  /// been off for longer than it takes a process to have the same number at the same time after the start.
  private static let clockChange: UInt64 = 60_000_000_000
}
