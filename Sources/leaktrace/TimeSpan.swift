// A time on the command line.

import ArgumentParser
import TraceAnalysis

/// `30s`, `10m`, `2h`, `7d`; a number without a unit means seconds.
struct TimeSpan: ExpressibleByArgument {
  var seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  init?(argument: String) {
    let units: [String: Double] = ["": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400]
    guard let quantity = Quantity(parsing: argument), let unit = units[quantity.unit],
      (Self.least...Self.most).contains(quantity.value * unit)
    else { return nil }
    seconds = quantity.value * unit
  }

  /// The shortest time: heap images in faster succession would take most of the process's time.
  private static let least = 0.1
  private static let most = 366.0 * 86400

  var defaultValueDescription: String { Decimal.duration(seconds) }
}
