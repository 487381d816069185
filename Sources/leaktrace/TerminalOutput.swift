// The kind of file that standard output is connected to.

import FoundationEssentials
import Glibc

/// Columns and emphasis of standard output, as they are now.
struct TerminalOutput {
  let columns: Int
  /// Only for a terminal, and not if NO_COLOR is set or TERM is dumb.
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
