// Time and memory of one phase of a computation after the other.

import Glibc

/// Measures phases, and prints a line of JSON for each: its name, seconds of the clock and of the processor, the
/// resident bytes at its begin and end, and the most in between.
public enum PhaseMeter {
  public static func measure<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
    // The kernel forgets the highest resident size there was.
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

  /// Of /proc/self/status, where it is a number of KiB.
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
