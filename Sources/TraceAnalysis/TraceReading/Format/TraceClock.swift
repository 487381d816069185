// Ticks of a trace's clock as seconds.

/// Converts ticks to seconds since the start of the recording.
package struct TraceClock: Hashable, Sendable {
  package let startTime: UInt64
  /// 0 if the trace does not show the rate.
  package let ticksPerSecond: Double

  /// Computes the rate from clock readings if these are half a second or more apart. Otherwise uses the rate in the
  /// header, which the processor reported.
  init(header: TraceHeader, samples: [ClockSample], closing: TraceClosing?) {
    startTime = header.startTime
    if header.clock == .monotonic {
      ticksPerSecond = 1e9
      return
    }
    var pairs = samples
    if header.startMonotonic != 0 {
      pairs.append(ClockSample(time: header.startTime, monotonic: header.startMonotonic))
    }
    if let closing, closing.monotonic != 0 {
      pairs.append(ClockSample(time: closing.time, monotonic: closing.monotonic))
    }
    var measured = 0.0
    var span = 0.0
    if let first = pairs.min(by: { $0.monotonic < $1.monotonic }),
      let last = pairs.max(by: { $0.monotonic < $1.monotonic }),
      last.time > first.time
    {
      span = Double(last.monotonic - first.monotonic) / 1e9
      if span > 0 { measured = Double(last.time - first.time) / span }
    }
    ticksPerSecond = span >= 0.5 || header.ticksPerSecond == 0 ? measured : Double(header.ticksPerSecond)
    if ticksPerSecond == 0 { return }
  }

  /// Seconds from the start to `time`, negative before it; nil if the clock's rate is unknown.
  package func seconds(at time: UInt64) -> Double? {
    guard ticksPerSecond > 0 else { return nil }
    return Double(Int64(bitPattern: time &- startTime)) / ticksPerSecond
  }

  /// Ticks in `seconds`, for bounds; 0 if the rate is unknown.
  func ticks(in seconds: Double) -> UInt64 {
    let ticks = seconds * ticksPerSecond
    return ticks > 0 && ticks < 1e18 ? UInt64(ticks) : 0
  }
}
