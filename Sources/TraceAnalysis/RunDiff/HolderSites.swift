// The types and holders of a heap image. They replace allocation sites for inspections and light recordings, which have
// no allocation sites.

import LeakDetection
import TraceReading

/// The start of an inspected process, and its age at the inspection.
package struct InspectedMoment: Codable, Hashable, Sendable {
  /// The start of the process, in nanoseconds of CLOCK_MONOTONIC; 0 if it is not known, as for a core.
  var processStart: UInt64
  /// Nanoseconds from the start to the inspection.
  package var age: UInt64

  package init(processStart: UInt64, age: UInt64) { (self.processStart, self.age) = (processStart, age) }

  /// Converts seconds to nanoseconds. Returns 0 for implausible values, which a damaged trace may have.
  static func nanoseconds(_ seconds: Double) -> UInt64 {
    seconds > 0 && seconds < 1e9 ? UInt64(seconds * 1e9) : 0
  }
}

extension RunDigest {
  /// Whether the sites are types and their holders. In digests of earlier versions, only inspections have holders.
  var hasHolders: Bool { listsHolders ?? (inspected != nil) }

  /// The operation of sites that are types and holders, in digests of all versions.
  private static let operationOfHolders = "inspected"

  /// Replaces the sites with the census of a heap image. The holder replaces the allocating function.
  mutating func replaceSites(with census: HolderCensus) {
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

  /// This digest, with a single holder for all untyped blocks that no object of the program holds. Libraries keep free
  /// memory in chains that begin in thread-local variables, and scanning finds a varying part of the chains. In one of
  /// two equal runs of a program with tasks, 192 blocks of libdispatch had no holder, and thread-local variables held
  /// 75. In the other run, the numbers were 73 and 193.
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
  /// The names of allocating functions, which are the type names of untyped blocks.
  private static let untyped = Set((0...UInt8.max).map { Operation(rawValue: $0).name })

  /// Returns whether both digests are of one process: number, program and start are the same. Two starts count as the
  /// same if they differ by less than `clockSlack`.
  func isOfSameProcess(as other: RunDigest) -> Bool {
    guard let own = inspected, let others = other.inspected, own.processStart > 0, others.processStart > 0,
      let origin, let otherOrigin = other.origin, origin.process == otherOrigin.process, program == other.program,
      origin.buildID == otherOrigin.buildID
    else { return false }
    let (a, b) = (own.processStart, others.processStart)
    return max(a, b) - min(a, b) < Self.clockSlack
      && max(origin.startTime, otherOrigin.startTime) - min(origin.startTime, otherOrigin.startTime) < Self.clockChange
  }

  /// In nanoseconds: five ticks of the clock that the kernel uses for process starts.
  private static let clockSlack: UInt64 = 50_000_000
  /// In nanoseconds: the largest adjustment of the wall clock between the inspections that is accepted. A reboot makes
  /// a larger difference: a new process does not get the same number at the same time after boot so soon.
  private static let clockChange: UInt64 = 60_000_000_000
}
