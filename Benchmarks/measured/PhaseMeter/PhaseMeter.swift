// Measures time and memory of the phases of a computation.

import Glibc

/// Measures phases, and prints a line of JSON for each: its name, wall and processor seconds, the resident bytes at its
/// start and end, and the peak resident bytes.
public enum PhaseMeter {
  public static func measure<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
    // Resets the peak resident size (VmHWM).
    if let file = fopen("/proc/self/clear_refs", "w") {
      fputs("5", file)
      fclose(file)
    }
    let before = residentBytes("VmRSS")
    let (wall, processor) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
    let result = try body()
    let (wallTaken, processorTaken) = (seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - processor)
    print(
      "{\"phase\": \"\(name)\", \"wall\": \(wallTaken), \"processor\": \(processorTaken), \"before\": \(before), "
        + "\"after\": \(residentBytes("VmRSS")), \"peak\": \(residentBytes("VmHWM"))}")
    fflush(nil)
    return result
  }

  /// Prints a line with one number.
  public static func note(_ name: String, _ value: Int) {
    print("{\"note\": \"\(name)\", \"value\": \(value)}")
    fflush(nil)
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Returns a field of /proc/self/status in bytes. The file has KiB.
  private static func residentBytes(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
      if text.hasPrefix(name + ":") { return (Int(text.filter(\.isNumber)) ?? 0) * 1024 }
    }
    return 0
  }
}
