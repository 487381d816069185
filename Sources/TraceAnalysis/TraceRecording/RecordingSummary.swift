// The messages that `record` prints when the recorded program has ended.

import TextWriting
import TraceReading

/// The lines of the summary of a recording, without the command's prefix.
package struct RecordingSummary: Hashable, Sendable {
  /// Losses and failures that a reader of the trace must know. They are shown even in quiet mode.
  package var problems: [String] = []
  /// All other lines.
  package var notes: [String] = []

  /// Maximum number of traces that are listed one by one.
  static let listedTraces = 10

  /// The prefix of the library's messages that are not problems.
  private static let notice = "note: "

  /// The bytes that the smallest trace and its live file need.
  private static let minFileSize: UInt64 = 1 << 20

  /// - Parameter traces: The session's traces. Traces of ended processes have been closed where possible.
  /// - Parameter stillRecording: The paths of traces whose processes are still running.
  /// - Parameter messages: The messages that the preloaded library wrote, mostly about processes that it does not
  ///   record.
  /// - Parameter lostDirectory: The directory of the traces, if it was removed or replaced.
  /// - Parameter fileSizeLimit: The limit on the size of files that the program writes, in bytes; nil if there is no
  ///   limit.
  /// - Parameter program: Describes the program of a trace; nil if the trace does not have it.
  /// - Parameter displayPath: Converts an absolute path for display.
  package init(
    traces: [RecordedTrace], stillRecording: Set<String>, messages: [String], lostDirectory: String? = nil,
    fileSizeLimit: UInt64? = nil,
    program: (RecordedTrace) -> TracedProgram? = { TracedProgram(tracePath: $0.path) },
    displayPath: (String) -> String
  ) {
    problems = messages.filter { !$0.hasPrefix(Self.notice) }
    notes = messages.filter { $0.hasPrefix(Self.notice) }.map { String($0.dropFirst(Self.notice.count)) }
    if traces.isEmpty {
      if let lostDirectory {
        problems.append("no trace is left: \(lostDirectory) was removed or replaced while the program ran")
      } else if messages.isEmpty, let fileSizeLimit, fileSizeLimit < Self.minFileSize {
        // With such a limit, the recorder cannot even write its own message.
        problems.append(
          "no trace was written: the limit on file sizes, \(sizeText(fileSizeLimit)), leaves no room for one. Raise it (ulimit -f)"
        )
      } else if messages.isEmpty {
        problems.append("no trace was written: the program ended before the recorder was loaded")
      }
      return
    }
    let largestFirst = traces.sorted { ($1.fileSize, $0.path) < ($0.fileSize, $1.path) }
    for trace in largestFirst.prefix(Self.listedTraces) {
      notes.append(Self.line(trace, isRecording: stillRecording.contains(trace.path), displayPath))
      problems += Self.problems(of: trace, displayPath)
      notes += Self.shortcomings(of: trace, displayPath)
    }
    let rest = largestFirst.dropFirst(Self.listedTraces)
    if !rest.isEmpty {
      let events = rest.reduce(0) { $0 &+ $1.eventCount }
      let bytes = rest.reduce(0) { $0 &+ $1.fileSize.rawValue }
      notes.append("and \(groupedDigits(UInt64(rest.count))) more traces: \(eventText(events)), \(sizeText(bytes))")
      let lossy = rest.filter { !Self.problems(of: $0, displayPath).isEmpty }
      if !lossy.isEmpty { problems.append("\(lossy.count) of the traces not listed are incomplete") }
    }
    let children = traces.reduce(0) { $0 &+ UInt64($1.untracedChildren) }
    if children > 0 {
      notes.append(
        "\(groupedDigits(children)) child process\(children == 1 ? " was" : "es were") not traced; "
          + "--follow-children traces them too")
    }
    let paths = ProgramTraces.choose(among: traces, program: program).map { shellQuoted(displayPath($0.path)) }
    notes.append("next: leaktrace analyze \(paths.joined(separator: " "))")
  }

  private static func line(_ trace: RecordedTrace, isRecording: Bool, _ displayPath: (String) -> String) -> String {
    var text = "\(eventText(trace.eventCount)), \(sizeText(trace.fileSize.rawValue)): \(displayPath(trace.path))"
    if isRecording { text += " (process \(trace.processID) still runs and records)" }
    return text
  }

  private static func problems(of trace: RecordedTrace, _ displayPath: (String) -> String) -> [String] {
    var result: [String] = []
    let drops = trace.drops
    func add(_ text: String) { result.append("\(displayPath(trace.path)): \(text)") }
    if case .stopped(let code) = trace.state {
      let lost = drops.afterStop > 0 ? "; \(eventText(drops.afterStop)) after that are missing" : ""
      add("recording stopped early\(code == 0 ? "" : ": \(systemErrorText(code))")\(lost)")
    } else if drops.afterStop > 0 {
      add("\(eventText(drops.afterStop)) missing after recording stopped")
    }
    if drops.nested > 0 { add("\(eventText(drops.nested)) missing, made by signal handlers inside the recorder") }
    if drops.withoutMemory > 0 { add("\(eventText(drops.withoutMemory)) missing: no memory for a thread's buffer") }
    if drops.mismatchedStacks > 0 { add("\(stackText(drops.mismatchedStacks)) differed from a fresh unwind") }
    return result
  }

  /// Returns notes about events whose recorded stacks are incomplete.
  private static func shortcomings(of trace: RecordedTrace, _ displayPath: (String) -> String) -> [String] {
    var result: [String] = []
    func add(_ text: String) { result.append("\(displayPath(trace.path)): \(text)") }
    let drops = trace.drops
    if drops.truncatedStacks > 0 {
      add("\(stackText(drops.truncatedStacks)) cut at the limit of \(trace.stackDepthLimit) frames")
    }
    if drops.incompleteStacks > 0 {
      add("\(stackText(drops.incompleteStacks)) incomplete: code without unwind information")
    }
    return result
  }
}

/// Returns a number of events in words: "1 event", "12,345 events".
func eventText(_ count: UInt64) -> String { "\(groupedDigits(count)) \(count == 1 ? "event" : "events")" }

/// Returns a number of stacks in words: "1 stack", "12,345 stacks".
private func stackText(_ count: UInt64) -> String { "\(groupedDigits(count)) \(count == 1 ? "stack" : "stacks")" }

/// Returns a number with its digits in groups of three: "1,234,567".
func groupedDigits(_ value: UInt64) -> String {
  var result = ""
  let digits = String(value)
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
    result.append(digit)
  }
  return result
}

/// Returns a size in decimal units with three significant digits: "512 B", "1.23 kB", "45.6 MB".
package func sizeText(_ bytes: UInt64) -> String {
  guard bytes >= 1000 else { return "\(bytes) B" }
  var value = Double(bytes), unit = 0
  let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
  while value >= 999.5 && unit < units.count - 1 {
    value /= 1000
    unit += 1
  }
  let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
  let scale = [1.0, 10.0, 100.0][decimals]
  let scaled = UInt64((value * scale).rounded())
  guard decimals > 0 else { return "\(scaled) \(units[unit])" }
  let fraction = String(scaled % UInt64(scale))
  return
    "\(scaled / UInt64(scale)).\(String(repeating: "0", count: decimals - fraction.count))\(fraction) \(units[unit])"
}

/// Quotes `text` as a word for a POSIX shell. Text with control characters is written as `$'…'`, which bash, zsh and
/// newer shells read.
func shellQuoted(_ text: String) -> String {
  if !text.unicodeScalars.allSatisfy(PlainText.isShown) {
    let bytes = text.utf8.map { byte -> String in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7E: String(UnicodeScalar(byte))
      default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return "$'" + bytes.joined() + "'"
  }
  let plain = text.utf8.allSatisfy {
    switch $0 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      return true
    default: return "/._-+,:=@%".utf8.contains($0)
    }
  }
  if plain && !text.isEmpty { return text }
  return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
