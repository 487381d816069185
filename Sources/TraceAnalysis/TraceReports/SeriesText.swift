// The results of a series of heap images, as text.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import Wording

/// The process that a watch examines.
package struct WatchedProcess: Hashable, Sendable {
  /// Path of the program.
  package var program: String
  package var processID: UInt32
  /// Sentences about failures, and about the reason why the watch ended.
  package var remarks: [String]

  package init(program: String, processID: UInt32, remarks: [String] = []) {
    (self.program, self.processID, self.remarks) = (program, processID, remarks)
  }
}

/// The growth in the heap images of one process.
package struct ProcessGrowth: Sendable {
  package var process: WatchedProcess
  package var growth: SeriesGrowth

  package init(process: WatchedProcess, growth: SeriesGrowth) { (self.process, self.growth) = (process, growth) }
}

/// Renders a series: sizes, suspicions, other growth, and findings. Formats only; makes no decisions.
package struct SeriesText {
  private let style: TextStyle
  /// Maximum number of rows of unsuspected growth; nil for all.
  private let limit: Int?

  package init(style: TextStyle = TextStyle(), limit: Int? = 10) { (self.style, self.limit) = (style, limit) }

  /// Returns the text.
  ///
  /// - Parameters:
  ///   - leaks: the leaks in the newest heap image, with the suspicions of the series; nil if there is no heap image.
  ///   - queues: the tasks of the newest heap image, with the actors whose queues only grow; nil if there are none.
  package func text(
    _ process: WatchedProcess, _ growth: SeriesGrowth, leaks: LeakReport?, queues: TaskInventory? = nil
  ) -> String {
    var lines = TextLines(style: style)
    writeHead(process, growth, to: &lines)
    for remark in process.remarks { lines.line("note: \(PlainText.escaped(remark))", indent: 2) }
    lines.blank()
    if let queues { TaskText.write(queues.actors, queues, to: &lines) }
    writeSuspects(growth, leaks, to: &lines)
    writeGrown(growth, to: &lines)
    writeProven(growth, to: &lines)
    if let leaks {
      lines.line("The newest image", emphasized: 3)
      lines.blank()
      FindingText(style: style, stacks: leaks.stacks).write(leaks, to: &lines)
    }
    return lines.text
  }

  private func writeHead(_ process: WatchedProcess, _ growth: SeriesGrowth, to lines: inout TextLines) {
    let time = (growth.moments.last?.time ?? 0) - (growth.moments.first?.time ?? 0)
    let span = growth.moments.count > 1 ? " over \(Decimal.duration(time))" : ""
    lines.line(
      "\(PlainText.escaped(process.program)) (pid \(process.processID)): \(Decimal.counted(UInt64(growth.taken), "image"))\(span)",
      emphasized: 1)
    guard growth.moments.count > 1 else { return }
    func row(_ name: String, _ values: [UInt64]) {
      guard let first = values.first, let last = values.last else { return }
      lines.row(
        "\(name)  \(curve(values.map(Double.init), growth))  \(Decimal.bytes(first)) → \(Decimal.bytes(last))",
        indent: 2)
    }
    row("live    ", growth.moments.map(\.live))
    let resident = growth.moments.compactMap(\.resident)
    if resident.count == growth.moments.count { row("resident", resident) }
  }

  private func curve(_ values: [Double], _ growth: SeriesGrowth) -> String {
    CurveText.text(values, times: growth.moments.map(\.time), columns: CurveText.columns(width: style.width))
  }

  // MARK: Growth

  private func writeSuspects(_ growth: SeriesGrowth, _ leaks: LeakReport?, to lines: inout TextLines) {
    let rules = GrowthRules.standard
    if growth.suspects.isEmpty {
      let images = growth.moments.count
      let answer =
        images < rules.minImages
        ? "Growth: not judged with \(Decimal.counted(UInt64(images), "image")); it takes \(rules.minImages)"
        : "Growth: nothing suspected"
      let level = growth.level.map { MemoryWords.text($0, of: "time") }
      let kept = leaks?.residentMemory.flatMap(MemoryWords.kept)
      lines.line([answer, level, kept].compactMap(\.self).joined(separator: "; "), emphasized: 1)
      lines.blank()
      return
    }
    let weak = growth.suspects.count { $0.suspicion?.isStrong == false }
    lines.line(
      "Suspected to leak: \(growth.suspects.count)\(weak > 0 ? " (\(weak) weak)" : "")", emphasized: 3, tint: .suspected
    )
    lines.blank()
    for row in growth.suspects {
      write(row, of: growth, isEmphasized: true, to: &lines)
      if let suspicion = row.suspicion { lines.line(Self.words(suspicion, row.row), indent: 4) }
      lines.blank()
    }
  }

  private func writeGrown(_ growth: SeriesGrowth, to lines: inout TextLines) {
    guard !growth.grown.isEmpty else { return }
    let shown = growth.grown.prefix(limit ?? growth.grown.count)
    lines.line(
      "Grew from the first image to the last, and is not suspected: \(Decimal.grouped(UInt64(growth.grown.count)))",
      emphasized: 1)
    lines.blank()
    for row in shown { write(row, of: growth, isEmphasized: false, to: &lines) }
    if shown.count < growth.grown.count {
      lines.line(
        "\(Decimal.grouped(UInt64(growth.grown.count - shown.count))) more grew less; show more with --limit", indent: 2
      )
    }
    lines.blank()
  }

  private func write(
    _ row: SeriesGrowth.Row, of growth: SeriesGrowth, isEmphasized: Bool, to lines: inout TextLines
  ) {
    guard let first = row.figures.first, let last = row.figures.last else { return }
    let noun = row.row.kind.isCollection ? "element" : "object"
    let grown = row.grown > 0 ? "+\(Decimal.counted(UInt64(row.grown), noun))" : ""
    lines.spread(
      "\(PlainText.escaped(row.row.name)) in \(Self.words(holder: row.row.key.holder))", grown, indent: 2,
      emphasized: isEmphasized)
    var words =
      "\(Decimal.grouped(first.count)) → \(Decimal.grouped(last.count)), retains \(Decimal.bytes(first.retainedBytes)) → \(Decimal.bytes(last.retainedBytes))"
    if case .innocent(let reason) = row.judgement, let text = Self.words(reason) { words += "; \(text)" }
    lines.row("\(curve(row.figures.map { Double($0.count) }, growth))  \(words)", indent: 4)
  }

  /// Returns a holder's name without double spaces. A double space remains where a closure's number was removed, since
  /// such numbers change from build to build.
  private static func words(holder: String) -> String {
    PlainText.escaped(holder.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " "))
  }

  /// Returns why growth is not suspected; nil if no explanation is needed.
  private static func words(_ reason: GrowthCurve.Innocence) -> String? {
    switch reason {
    case .tooFewImages, .hardlyGrows: nil
    case .levelsOff: "levels off"
    case .inSteps: "not in every part of the time"
    case .fallsBack: "falls now and then"
    case .sways: "by less than it sways"
    case .turnsOver: "its objects are replaced"
    case .growsWithHolder: "like its holder"
    }
  }

  private static func words(_ suspicion: GrowthSuspicion, _ row: HolderCensus.Row) -> String {
    let hour = suspicion.perSecond * 3600
    let rate =
      hour >= 10 && hour < 1e15 ? Decimal.grouped(UInt64(hour.rounded())) : Decimal.fixed(hour, places: 1)
    let strength =
      suspicion.isStrong
      ? "Strong suspicion"
      : "Weak suspicion (\(Self.reasonOfWeakness(suspicion, row)))"
    return
      "\(strength): more in each part of the last \(suspicion.images) images, \(rate) an hour, and no slower towards the end (\(Decimal.fixed(suspicion.lateShare, places: 1)) ×). A cache that has not reached its limit looks the same."
  }

  private static func reasonOfWeakness(_ suspicion: GrowthSuspicion, _ row: HolderCensus.Row) -> String {
    if suspicion.images < GrowthRules.standard.strongImages {
      return "\(suspicion.images) images; it takes \(GrowthRules.standard.strongImages) to be sure"
    }
    return row.holderKind == .task ? "a task may be at work with them" : "they may wait for their turn"
  }

  private func writeProven(_ growth: SeriesGrowth, to lines: inout TextLines) {
    let growing = growth.findings.filter { history in
      !history.finding.isLibrary && (history.instances.last ?? 0) > (history.instances.first ?? 0)
    }
    guard growing.count > 0, growth.moments.count > 1 else { return }
    lines.line("Proven leaks that grew: \(growing.count)", emphasized: 1, tint: .proven)
    lines.blank()
    for history in growing {
      let verdict = VerdictWords(history.finding.evidence).heading
      lines.spread(
        "\(verdict)  \(PlainText.escaped(FindingTitle.subject(history.finding)))",
        "+\(Decimal.counted(UInt64(history.instances.last! - history.instances.first!), "instance"))", indent: 2,
        emphasized: true, start: TintedStart(verdict, Tint(history.finding)))
      lines.row(
        "\(curve(history.instances.map(Double.init), growth))  \(Decimal.grouped(UInt64(max(0, history.instances.first!)))) → \(Decimal.grouped(UInt64(max(0, history.instances.last!))))",
        indent: 4)
    }
    lines.blank()
  }
}
