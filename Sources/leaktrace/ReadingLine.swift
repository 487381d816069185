// The line on the terminal that shows the progress of reading a trace.

import FoundationEssentials
import Glibc
import TraceAnalysis

/// Shows the progress of reading a trace on standard error, if standard error is a terminal and reading takes long
/// enough. Call `erase`, which removes the line, before writing anything else. For one thread at a time.
final class ReadingLine {
  private var text: ProgressText
  private var isOnScreen = false

  /// Returns nil if no line should be shown.
  static func show(_ reader: TraceReader, path: String) -> ReadingLine? {
    guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
    let line = ReadingLine(path)
    reader.whileReading { [weak line] in line?.update($0) }
    return line
  }

  private init(_ path: String) {
    text = ProgressText(path.split(separator: "/").last.map(String.init) ?? path, now: Self.now)
  }

  private func update(_ position: ReadingPosition) {
    let now = Self.now
    text.see(position, now: now)
    // A process in the background must not write to the terminal.
    guard text.isDue(now), tcgetpgrp(STDERR_FILENO) == getpgrp() else { return }
    ErrorOutput.write("\r" + text.line(position, now: now, columns: Self.columns) + "\u{1B}[K")
    isOnScreen = true
  }

  /// Shows the activity that follows the reading, if a line is on the screen.
  func replace(_ activity: String) {
    if isOnScreen { ErrorOutput.write("\rleaktrace: \(activity)\u{1B}[K") }
  }

  func erase() {
    if isOnScreen { ErrorOutput.write("\r\u{1B}[K") }
    isOnScreen = false
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The terminal's current width.
  private static var columns: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
