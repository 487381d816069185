// Types and holders of a heap image, used as sites for inspections and light recordings, which have no allocation
// sites.

import LeakDetection
import TraceReading

/// The process that was inspected, and the moment.
package struct InspectedMoment: Codable, Hashable, Sendable {
  /// The start of the process, in nanoseconds of CLOCK_MONOTONIC; 0 if it is not known, as for a core.
  package var processStart: UInt64
  /// Nanoseconds since then.
  package var age: UInt64

  package init(processStart: UInt64, age: UInt64) { (self.processStart, self.age) = (processStart, age) }

  /// Converts seconds to nanoseconds; 0 for implausible values, because a trace may claim any time.
  static func nanoseconds(_ seconds: Double) -> UInt64 {
    seconds > 0 && seconds < 1e9 ? UInt64(seconds * 1e9) : 0
  }
}

extension RunDigest {
  /// Sites are types and their holders. In digests of earlier versions, only inspections have holders.
  package var hasHolders: Bool { listsHolders ?? (inspected != nil) }

  /// The operation of rows for types and holders, in digests of all versions.
  private static let operationOfHolders = "inspected"

  /// Replaces the sites by the census of a heap image. An object's holder takes the place of its allocating function.
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

  /// This digest, with one holder for untyped blocks that no code of the program holds. Libraries keep free memory in
  /// chains that begin in thread-local variables, and scanning finds a varying part of them. Of two equal runs of a
  /// program with tasks, one had 192 blocks of libdispatch held by nothing and 75 held by such variables. The other had
  /// 73 and 193.
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
  /// Functions that allocate; untyped blocks are named by them.
  private static let untyped = Set((0...UInt8.max).map { Operation(rawValue: $0).name })

  /// True if both digests are of one process: the same number and program, and the same start. Two readings of the
  /// clock agree on the start to within `clockSlack`.
  func isOfSameProcess(as other: RunDigest) -> Bool {
    guard let own = inspected, let others = other.inspected, own.processStart > 0, others.processStart > 0,
      let origin, let otherOrigin = other.origin, origin.process == otherOrigin.process, program == other.program,
      origin.buildID == otherOrigin.buildID
    else { return false }
    let (a, b) = (own.processStart, others.processStart)
    return max(a, b) - min(a, b) < Self.clockSlack
      && max(origin.startTime, otherOrigin.startTime) - min(origin.startTime, otherOrigin.startTime) < Self.clockChange
  }

  /// Nanoseconds: five ticks of the kernel's clock for process starts.
  private static let clockSlack: UInt64 = 50_000_000
  /// Nanoseconds that someone may have moved the wall clock by between the inspections. A reboot makes a larger
  /// difference: it takes longer until a process has the same number at the same time after boot.
  private static let clockChange: UInt64 = 60_000_000_000
}
