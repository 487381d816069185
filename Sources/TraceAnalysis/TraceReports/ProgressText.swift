// The line that shows the progress of a long analysis.

import TraceReading

/// A line about the progress of reading one trace: the part that is done, the rate, and the time left. Uses no clock
/// and no terminal. The caller passes times, in seconds of any monotonic clock.
package struct ProgressText: Sendable {
  /// Times in seconds. Work shorter than `patience` shows no line. Lines are at least `interval` apart.
  package static let patience = 1.0, interval = 0.25

  /// The trace's name; empty if its width in columns is unknown.
  private let name: String
  private let start: Double
  private var lastShown: Double?
  /// The positions of the current pass in the last `memory` seconds, oldest first. Rate and remaining time are computed
  /// from these positions, because some parts of a trace take longer to read than others.
  private var seen: [(time: Double, position: ReadingPosition)] = []

  /// - Parameter name: The name of the trace.
  package init(_ name: String, now: Double) {
    self.name = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? name : ""
    start = now
  }

  /// Adds a position. The caller must add every position, including the first of each pass. O(1).
  package mutating func see(_ position: ReadingPosition, now: Double) {
    if let last = seen.last {
      if last.position.pass != position.pass { seen.removeAll() } else if now - last.time < Self.interval { return }
    }
    seen.append((now, position))
    while seen.count > 2, now - seen[1].time >= Self.memory { seen.removeFirst() }
  }

  /// Returns true if it is time to show the line: at most once per interval.
  package mutating func isDue(_ now: Double) -> Bool {
    guard now - start >= Self.patience, lastShown.map({ now - $0 >= Self.interval }) ?? true else { return false }
    lastShown = now
    return true
  }

  /// Returns the line. It is shorter than `columns`, so that a terminal does not wrap it. Space goes first to the
  /// remaining time, then to the bar, the rate, the verb and the name. Parts that do not fit are left out.
  package func line(_ position: ReadingPosition, now: Double, columns: Int) -> String {
    let part = position.totalBytes > 0 ? min(1, Double(position.bytes) / Double(position.totalBytes)) : 0
    let (bytesPerSecond, eventsPerSecond) = rates(position, now)
    let room = columns - 1
    var line = "leaktrace: "
    let percent = "\(Int(part * 100))%"
    let numbers = String(repeating: " ", count: 4 - percent.count) + percent
    // With little data, the estimate would fluctuate.
    let left =
      part >= 0.01 && bytesPerSecond > 0
      ? ", \(Self.duration(Double(position.totalBytes - min(position.bytes, position.totalBytes)) / bytesPerSecond)) left"
      : ""
    let rate = eventsPerSecond > 0 ? ", \(Self.oneDecimal(eventsPerSecond / 1e6)) M events/s" : ""
    let verb = position.pass == 0 ? "reading" : "reading again"
    var used = line.count + numbers.count
    func take(_ text: String) -> String {
      guard used + text.count <= room else { return "" }
      used += text.count
      return text
    }
    // Reserve space while the time left is unknown, so that nothing moves when it appears.
    let shownLeft = take(left.isEmpty ? String(repeating: " ", count: Self.minLeft) : left)
    let minBar = 3 + Self.minBar
    let hasBar = used + minBar <= room
    if hasBar { used += minBar }
    let shownRate = take(rate)
    let shownVerb = take("\(verb) ")
    let shownName = shownVerb.isEmpty || name.isEmpty ? "" : take("\(name) ")
    line += shownVerb + shownName
    if hasBar { line += Self.bar(part, width: min(Self.maxBar, Self.minBar + room - used)) + " " }
    let isKnown = !left.isEmpty
    return String((line + numbers + (isKnown ? shownLeft : "") + shownRate).prefix(max(0, room)))
  }

  private func rates(_ position: ReadingPosition, _ now: Double) -> (bytes: Double, events: Double) {
    guard let oldest = seen.first, oldest.position.pass == position.pass, now > oldest.time else { return (0, 0) }
    let seconds = now - oldest.time
    return (
      Double(position.bytes - min(position.bytes, oldest.position.bytes)) / seconds,
      Double(position.events - min(position.events, oldest.position.events)) / seconds
    )
  }

  private static let memory = 5.0
  private static let minBar = 10, maxBar = 30
  private static let minLeft = ", 0:00 left".count

  private static func bar(_ part: Double, width: Int) -> String {
    let filled = Int(part * Double(width))
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
  }

  /// Returns a time as "0:07", "12:34" or "1:02:03".
  private static func duration(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds.rounded(.up)), 359_999))
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  private static func oneDecimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
