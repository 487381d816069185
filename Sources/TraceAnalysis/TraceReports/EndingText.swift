// The end of an object, as text.

import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// Writes the three moments of an object that was freed: its allocation, its end, and its use afterwards. Shows the
/// program's line for each moment or, with full stacks, every frame. Formats only; makes no decisions.
struct EndingText {
  let style: TextStyle

  func write(_ ending: Finding.Ending, to lines: inout TextLines) {
    write("allocated", ending.allocated, "", to: &lines)
    write("freed", ending.freed, "", to: &lines)
    guard let used = ending.used else { return }
    let others = ending.uses > 1 ? ", the first of \(Decimal.grouped(ending.uses)) uses" : ""
    write("used", used, "\(PlainText.escaped(used.operation))\(others), ", to: &lines)
  }

  private func write(_ what: String, _ moment: Finding.Moment, _ operation: String, to lines: inout TextLines) {
    let place = moment.frame?.position.map { "  \(PlainText.escaped($0))" } ?? ""
    let function =
      moment.frame.map { "in \(PlainText.escaped($0.function))" }
      ?? (moment.frames.isEmpty ? "no stack was recorded" : "in a library")
    let padding = String(repeating: " ", count: max(1, 10 - what.count))
    lines.spread("\(what)\(padding)\(function)\(place)", "\(operation)\(time(moment))", indent: 2)
    guard style.stacks == .full else { return }
    for frame in moment.frames {
      lines.pair(PlainText.escaped(frame.fullFunction), position(frame), indent: 6, continuation: 10)
    }
  }

  private func time(_ moment: Finding.Moment) -> String {
    let thread = moment.thread.map { "thread \($0)" }
    return [moment.seconds.map { "after \(Decimal.fixed($0, places: 3)) s" }, thread].compactMap(\.self).joined(
      separator: ", ")
  }

  private func position(_ frame: SourceFrame) -> String? {
    guard let file = frame.file else {
      return frame.isNamed ? frame.imageName.map { "in \(PlainText.escaped($0))" } : nil
    }
    return frame.line.map { "\(PlainText.escaped(file)):\($0)" } ?? PlainText.escaped(file)
  }
}
