// Facts about an inspected process besides its memory.

import Glibc
import TraceReading
import TraceSymbolication

/// Facts about a process. Fewer are known for a core.
package struct InspectedFacts: Hashable, Sendable {
  package var processID: UInt32 = 0
  package var parentProcessID: UInt32 = 0
  /// The path of the program; empty if it is not known.
  package var executable = ""
  /// Resident size; 0 if it is not known.
  package var residentBytes: UInt64 = 0
  package var peakResidentBytes: UInt64 = 0
  /// The kernel's figures for the process's memory; nil if they are not known.
  package var residence: ResidenceRecord?
  /// Start of the process, in nanoseconds of CLOCK_MONOTONIC. `nanoseconds`: the time of the inspection on that clock.
  var startNanoseconds: UInt64 = 0
  package var nanoseconds: UInt64 = 0
  /// The time of the inspection in nanoseconds of CLOCK_BOOTTIME; nil if the process's clocks are not known.
  package var bootNanoseconds: UInt64?
  /// Start of the process, in nanoseconds since 1970.
  package var startRealtime: UInt64 = 0
  /// Nanoseconds that the process's threads were stopped.
  package var pauseNanoseconds: UInt64 = 0

  package init() {}

  /// Reads the facts about a running process. Facts that the kernel does not provide stay unknown.
  package init(ofProcess process: Int32) {
    processID = UInt32(process)
    executable = DebugFileSearch.withoutDeletion(
      LiveProcessMemory.path(
        ProcFile.target(ofLink: "/proc/\(process)/exe"), below: ProcFile.target(ofLink: "/proc/\(process)/root")))
    for line in Self.text("/proc/\(process)/status").split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " || $0 == ":" })
      guard words.count >= 2, let number = UInt64(words[1]) else { continue }
      switch words[0] {
      case "PPid": parentProcessID = UInt32(truncatingIfNeeded: number)
      case "VmRSS": residentBytes = number << 10
      case "VmHWM": peakResidentBytes = number << 10
      default: break
      }
    }
    nanoseconds = Self.now(CLOCK_MONOTONIC)
    // In another time namespace, the process has other clocks.
    if ProcFile.target(ofLink: "/proc/self/ns/time") == ProcFile.target(ofLink: "/proc/\(process)/ns/time") {
      bootNanoseconds = Self.now(CLOCK_BOOTTIME)
    }
    residence = Self.residence(process, time: nanoseconds)
    // The name may contain anything, so count the fields from the end of the name. The next field is the 3rd. The 22nd
    // field is the start time in ticks since boot.
    let stat = Self.text("/proc/\(process)/stat")
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst()
    let ticks = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    if fields.count > 19, let start = UInt64(fields[fields.startIndex + 19]) {
      let sinceBoot = start &* (1_000_000_000 / ticks)
      let age = max(0, Int64(Self.now(CLOCK_BOOTTIME)) &- Int64(clamping: sinceBoot))
      startNanoseconds = nanoseconds > UInt64(age) ? nanoseconds - UInt64(age) : 0
      startRealtime = Self.now(CLOCK_REALTIME) &- UInt64(age)
    }
  }

  /// Parses lines with a name, an amount and "kB" (Linux, Documentation/filesystems/proc.rst).
  private static func residence(_ process: Int32, time: UInt64) -> ResidenceRecord? {
    var bytes: [Substring: UInt64] = [:]
    for line in text("/proc/\(process)/smaps_rollup").split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 3, words[2] == "kB", let number = UInt64(words[1]) { bytes[words[0].dropLast()] = number << 10 }
    }
    guard let resident = bytes["Rss"], let anonymous = bytes["Anonymous"], anonymous <= resident else { return nil }
    return ResidenceRecord(
      time: time, anonymous: anonymous, other: resident - anonymous,
      hugePages: (bytes["AnonHugePages"] ?? 0) + (bytes["Private_Hugetlb"] ?? 0), swapped: bytes["Swap"] ?? 0)
  }

  private static func now(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static func text(_ path: String) -> String {
    // Both files are smaller than the limit.
    String(decoding: ProcFile.bytes(path, upTo: 1 << 14), as: UTF8.self)
  }
}
