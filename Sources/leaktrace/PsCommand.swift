// `leaktrace ps`: lists the processes that are being recorded.

import ArgumentParser
import Glibc
import TraceAnalysis

struct PsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ps",
    abstract: "List the processes that are being recorded.",
    discussion: """
      Shows the process ID that 'leaktrace snapshot', 'pause' and 'resume' take. Only root sees the processes of other users; \
      a note says how many could not be read.

      Exit status: 0 success, even if no process is being recorded, 5 the output could not be written, 64 wrong usage.
      """)

  @OptionGroup var formatOption: FormatOption

  @OptionGroup var layout: LayoutOptions

  func run() throws {
    let list = ProcessList(RecordingProcess.all()) { Self.localTime($0) }
    let style = layout.style()
    try ObjectQuestion.show(formatOption.format == .json ? list.json() : list.text(style: style), called: "the list")
  }

  /// Returns a time as `14:03:12`, or as `2026-03-05 14:03:12` if it is of another day, in the time zone of this
  /// process.
  private static func localTime(_ nanoseconds: UInt64) -> String {
    func parts(_ moment: time_t) -> tm? {
      var (moment, parts) = (moment, tm())
      return localtime_r(&moment, &parts) == nil ? nil : parts
    }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    guard let then = parts(time_t(nanoseconds / 1_000_000_000)), let now = parts(time(nil)) else { return "?" }
    let clock = "\(two(then.tm_hour)):\(two(then.tm_min)):\(two(then.tm_sec))"
    if (then.tm_year, then.tm_yday) == (now.tm_year, now.tm_yday) { return clock }
    return "\(Int(then.tm_year) + 1900)-\(two(then.tm_mon + 1))-\(two(then.tm_mday)) \(clock)"
  }
}
