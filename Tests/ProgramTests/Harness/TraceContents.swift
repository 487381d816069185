// The contents of a trace according to `leaktrace dump`, counted without the code of the analysis.

import TraceReading

/// The counted events of a trace, and the set of live blocks after their replay.
struct TraceContents {
  private(set) var eventCount: UInt64 = 0
  /// The number of frees of blocks that were not live, plus allocations of blocks that were live.
  private(set) var orphans = 0
  private(set) var threadCount = 0
  private var counts: [String: Int] = [:]
  private var sizes: [Int: (allocated: Int, live: Int)] = [:]

  /// Returns the number of events of an operation. `operation`: its name in the output of `dump`.
  func count(_ operation: String) -> Int { counts[operation, default: 0] }
  func allocations(ofSize size: Int) -> Int { sizes[size]?.allocated ?? 0 }
  func liveBlocks(ofSize size: Int) -> Int { sizes[size]?.live ?? 0 }

  enum Soundness { case whole, mayBeCutShort }

  /// Dumps the trace with the command under test. Throws if the dump fails, or if a trace that should be whole is cut
  /// short.
  init(_ path: String, _ soundness: Soundness = .whole) throws {
    let script = "set -o pipefail; \"$0\" dump --by-time --all \"$1\" | \"$2\""
    let command = Command([
      "/bin/bash", "-c", script, BuildProducts.leaktrace, path, try TestProgram("tally.swift").path(),
    ])
    let outcome = try command.run()
    let isWhole = outcome.end == .exit(0) && outcome.errorOutput.isEmpty
    let incomplete: Int32 = 4
    guard isWhole || (soundness == .mayBeCutShort && outcome.end == .exit(incomplete)) else {
      throw CommandFailure("leaktrace dump \(path): \(outcome.end) \(outcome.errorOutput)")
    }
    for line in outcome.output.split(separator: "\n") {
      let fields = line.split(separator: " ")
      switch fields[0] {
      case "events": eventCount = UInt64(fields[1])!
      case "orphans": orphans = Int(fields[1])!
      case "threads": threadCount = Int(fields[1])!
      case "operation": counts[String(fields[1])] = Int(fields[2])!
      case "size": sizes[Int(fields[1])!] = (Int(fields[2])!, Int(fields[3])!)
      default: throw CommandFailure("not a tally: \(line)")
      }
    }
  }
}
