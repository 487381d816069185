// The kind of file that standard output is connected to.

import FoundationEssentials
import Glibc

/// Columns and emphasis of standard output, as found at the initialization.
struct TerminalOutput {
  let columns: Int
  /// True only for a terminal, and only if NO_COLOR is not set and TERM is not dumb.
  let showsEmphasis: Bool

  init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    let isTerminal = isatty(1) == 1
    var size = winsize()
    if isTerminal, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      columns = Int(size.ws_col)
    } else {
      columns = environment["COLUMNS"].flatMap { Int($0) } ?? 80
    }
    showsEmphasis = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }
}
