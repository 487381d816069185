// The line on the terminal that shows, once a second, that the recording is running.

import Glibc
import TraceAnalysis

struct ProgressLine {
  let isShown: Bool
  private let session: RecordingSession
  private let start: Int
  private var isOnScreen = false

  init(isShown: Bool, session: RecordingSession) {
    self.isShown = isShown
    self.session = session
    start = time(nil)
  }

  /// True if the line does not disturb the program: the program's output does not go to the same terminal.
  static var fitsTheTerminal: Bool { isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0 }

  mutating func update() {
    // A process in the background must not write to the terminal.
    guard isShown, isatty(STDERR_FILENO) == 0 || tcgetpgrp(STDERR_FILENO) == getpgrp() else { return }
    let seconds = time(nil) - start
    let size = session.traces().reduce(UInt64(0)) { $0 + $1.fileSize.rawValue }
    let rest = seconds % 60
    ErrorOutput.write(
      "\r\u{1B}[Kleaktrace: recording \(seconds / 60):\(rest < 10 ? "0" : "")\(rest), \(sizeText(size))")
    isOnScreen = true
  }

  mutating func clear() {
    if isOnScreen { ErrorOutput.write("\r\u{1B}[K") }
    isOnScreen = false
  }
}
