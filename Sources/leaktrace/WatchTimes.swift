// Times and sizes on the command line of `watch`.

import ArgumentParser
import Glibc
import TraceAnalysis

/// When a watch ends: after a duration, or at the next time that the clock shows a given time of day.
enum WatchEnd: ExpressibleByArgument {
  case after(seconds: Double)
  case at(hour: Int, minute: Int)

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), (0..<24).contains(hour),
      (0..<60).contains(minute), parts[1].count == 2
    {
      self = .at(hour: hour, minute: minute)
    } else if let duration = TimeSpan(argument: argument) {
      self = .after(seconds: duration.seconds)
    } else {
      return nil
    }
  }

  /// Seconds from now until the end.
  var seconds: Double {
    switch self {
    case .after(let seconds): return seconds
    case .at(let hour, let minute): return Self.seconds(untilHour: hour, minute: minute, after: time(nil))
    }
  }

  /// Returns the seconds until the local clock next shows a given time of day. If a change of the clock skips this
  /// time, it comes later by the size of the change.
  static func seconds(untilHour hour: Int, minute: Int, after now: time_t) -> Double {
    var now = now
    var date = tm()
    localtime_r(&now, &date)
    (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(hour), Int32(minute), 0)
    for _ in 0..<2 {
      // Let `mktime` find out whether daylight saving time applies then.
      date.tm_isdst = -1
      let moment = mktime(&date)
      if moment > now { return Double(moment - now) }
      (date.tm_hour, date.tm_min) = (Int32(hour), Int32(minute))
      date.tm_mday += 1
    }
    return 86400
  }
}

/// A resident size, or a share of a control group's limit.
enum WatchedSize: ExpressibleByArgument {
  case resident(UInt64)
  case share(Double)

  init?(argument: String) {
    guard let quantity = Quantity(parsing: argument) else { return nil }
    if quantity.unit == "%", quantity.value <= 100 {
      self = .share(quantity.value / 100)
    } else if let bytes = quantity.bytes {
      self = .resident(bytes)
    } else {
      return nil
    }
  }

  var limit: Double {
    switch self {
    case .resident(let bytes): Double(bytes)
    case .share(let share): share
    }
  }

  /// Returns the figure to compare with `limit`; nil if there is none.
  func value(in use: ProcessMemoryUse) -> Double? {
    switch self {
    case .resident: Double(use.resident)
    case .share: use.group?.share
    }
  }
}
