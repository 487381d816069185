// Times and sizes on the command line of `watch`.

import ArgumentParser
import Foundation
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
    case .at(let hour, let minute):
      let next = Calendar.current.nextDate(
        after: Date(), matching: DateComponents(hour: hour, minute: minute), matchingPolicy: .nextTime)
      return next?.timeIntervalSinceNow ?? 86400
    }
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
