// Times and sizes on the command line of `watch`.

import ArgumentParser
import Glibc
import TraceAnalysis

/// A stretch of time, or a time of day that comes next.
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

  /// From now on.
  var seconds: Double {
    switch self {
    case .after(let seconds): return seconds
    case .at(let hour, let minute): return Self.seconds(untilHour: hour, minute: minute, after: time(nil))
    }
  }

  /// The seconds until the clock next shows a time of day in the local time zone. A time that a change of the clock leaves
  /// out comes as much later as the clock moves.
  static func seconds(untilHour hour: Int, minute: Int, after now: time_t) -> Double {
    var now = now
    var date = tm()
    localtime_r(&now, &date)
    (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(hour), Int32(minute), 0)
    for _ in 0..<2 {
      // The clock may have changed since now.
      date.tm_isdst = -1
      let moment = mktime(&date)
      if moment > now { return Double(moment - now) }
      (date.tm_hour, date.tm_min) = (Int32(hour), Int32(minute))
      date.tm_mday += 1
    }
    return 86400
  }
}

/// A resident size, or a part of a control group's limit.
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

  /// Nil if there is no such figure.
  func value(in use: ProcessMemoryUse) -> Double? {
    switch self {
    case .resident: Double(use.resident)
    case .share: use.group?.share
    }
  }
}
