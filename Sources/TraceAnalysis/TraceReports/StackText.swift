// A call stack as text, with the program's own lines first.

import AllocationReports
import TextWriting
import TraceReading
import TraceSymbolication

/// Formats a site's frames as lines. The program's innermost frame comes first, then its callers outwards. Folds frames
/// of the runtime and of libraries in between. Counts repeated frames.
struct StackText {
  let style: TextStyle
  /// Maximum number of callers to show, unless the style asks for full stacks.
  static let callerLimit = 12

  func write(_ site: ReportSite, to lines: inout TextLines, indent: Int) {
    write(site.frames, from: site.userFrame, to: &lines, indent: indent)
    switch site.end {
    case .complete: if site.frames.isEmpty { lines.row("(no stack was recorded)", indent: indent) }
    case .cut: lines.row("… the stack was cut here", indent: indent)
    case .undefined: lines.row("… the trace does not define the rest of the stack", indent: indent)
    }
  }

  func write(_ site: EstimatedSite, to lines: inout TextLines, indent: Int) {
    write(site.frames, from: site.userFrame, to: &lines, indent: indent)
    if site.frames.isEmpty { lines.row("(no stack was recorded)", indent: indent) }
  }

  /// Writes the stack of a thread.
  func write(_ thread: ReportThread, to lines: inout TextLines, indent: Int) {
    write(thread.frames, from: thread.userFrame, to: &lines, indent: indent)
    switch thread.stack.end {
    case .complete: break
    case .cut: lines.row("… the stack goes on", indent: indent + 2)
    case .noRules: lines.row("… the last frame's code has no rules for unwinding", indent: indent + 2)
    case .unsound:
      lines.row("… the rest is not a stack, or its memory is missing", indent: indent + 2)
    case .unknown: lines.row("(its stack could not be unwound)", indent: indent)
    }
  }

  /// - Parameter user: Index of the program's innermost frame; nil if there is none.
  private func write(_ frames: [ReportFrame], from user: Int?, to lines: inout TextLines, indent: Int) {
    if style.stacks == .full {
      writeFull(frames, from: user, to: &lines, indent: indent)
    } else if let user {
      writeFolded(frames, from: user, to: &lines, indent: indent)
    } else {
      writeRuntimeOnly(frames, to: &lines, indent: indent)
    }
  }

  private struct Run {
    var frame: ReportFrame
    var count: Int
  }

  /// Joins consecutive frames with the same text.
  private func runs(_ frames: some Sequence<ReportFrame>) -> [Run] {
    var runs: [Run] = []
    for frame in frames {
      if let last = runs.last, name(last.frame) == name(frame), place(last.frame) == place(frame) {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(Run(frame: frame, count: 1))
      }
    }
    return runs
  }

  private func name(_ frame: ReportFrame) -> String {
    let source = frame.source
    var name = PlainText.escaped(style.stacks == .full ? source.fullFunction : source.function)
    if style.stacks == .full, source.isInlined { name += " [inlined]" }
    return name
  }

  private func place(_ frame: ReportFrame) -> String? {
    let source = frame.source
    guard let file = source.file else {
      // A name without a file needs its loaded image. A frame without a name is shown as module+offset, which already
      // names the image.
      return source.isNamed ? source.imageName.map { "in \(PlainText.escaped($0))" } : nil
    }
    let shown = PlainText.escaped(style.stacks == .full ? file : fileName(ofPath: file))
    return source.line.map { "\(shown):\($0)" } ?? shown
  }

  /// True for code of a package that the program depends on. Such code is less prominent than the program's own.
  private func isOfPackage(_ frame: ReportFrame) -> Bool {
    frame.source.file.map { Self.packages.package(ofFile: $0) != nil } ?? false
  }

  private static let packages = PackageCode(executable: "")

  private func write(_ run: Run, to lines: inout TextLines, indent: Int, emphasized: Bool = false) {
    var text = name(run.frame)
    if run.count > 1 { text += " (\(Decimal.grouped(UInt64(run.count))) times)" }
    if run.frame.source.isAsync && style.stacks == .full { text += " [async]" }
    lines.pair(
      text, place(run.frame), indent: indent, continuation: indent + 4, emphasized: emphasized,
      isDimmed: !emphasized && isOfPackage(run.frame))
  }

  /// Writes every frame. `user`: index of the program's innermost frame, which is emphasized.
  func writeFull(_ frames: [ReportFrame], from user: Int?, to lines: inout TextLines, indent: Int) {
    for run in runs(frames) { write(run, to: &lines, indent: indent, emphasized: user.map { frames[$0] } == run.frame) }
  }

  private func writeFolded(_ all: [ReportFrame], from user: Int, to lines: inout TextLines, indent: Int) {
    let frames = all[user...]
    var shown = 0
    var folded = 0
    func foldedLine(_ lines: inout TextLines) {
      if folded > 0 { lines.row("… \(folded) runtime frame\(folded == 1 ? "" : "s")", indent: indent + 2) }
      folded = 0
    }
    let runs = runs(frames)
    for (position, run) in runs.enumerated() {
      guard run.frame.source.kind == .user else {
        folded += run.count
        continue
      }
      if shown > Self.callerLimit {
        let rest = runs[position...].reduce(folded) { $0 + $1.count }
        lines.row("… \(rest) more callers", indent: indent + 2)
        return
      }
      foldedLine(&lines)
      write(run, to: &lines, indent: shown == 0 ? indent : indent + 2, emphasized: shown == 0)
      if shown == 0 { writeCallee(all[..<user], to: &lines, indent: indent + 2) }
      shown += 1
    }
    foldedLine(&lines)
  }

  /// Writes the library function that the program called and that then allocated: the outermost library frame inside
  /// the program's innermost frame.
  private func writeCallee(_ inner: ArraySlice<ReportFrame>, to lines: inout TextLines, indent: Int) {
    guard let callee = inner.last(where: { $0.source.kind == .systemLibrary && $0.source.isNamed }) else { return }
    lines.pair(
      "through \(name(callee))", inner.count > 1 ? "… \(inner.count) runtime frames" : nil, indent: indent,
      continuation: indent + 2)
  }

  private func writeRuntimeOnly(_ frames: [ReportFrame], to lines: inout TextLines, indent: Int) {
    let all = runs(frames)
    for (position, run) in all.prefix(Self.callerLimit / 2).enumerated() {
      write(run, to: &lines, indent: position == 0 ? indent : indent + 2)
    }
    let rest = all.dropFirst(Self.callerLimit / 2).reduce(0) { $0 + $1.count }
    if rest > 0 { lines.row("… \(rest) more runtime frames", indent: indent + 2) }
  }
}
