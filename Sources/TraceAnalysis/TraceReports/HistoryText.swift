// Retain histories as text.

import AllocationReports
import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// Renders the answer to `leaktrace history`. Formats only; makes no decisions.
package struct HistoryText {
  private let style: TextStyle
  /// Maximum number of rows at each end of a history, and of places; nil for all.
  private let limit: Int?
  private let frames: (StackID) -> (frames: [ReportFrame], end: StackPath.End)

  /// `frames`: returns the frames of a stack, for full stacks.
  package init(
    style: TextStyle = TextStyle(), limit: Int? = 10,
    frames: @escaping (StackID) -> (frames: [ReportFrame], end: StackPath.End)
  ) {
    self.style = style
    self.limit = limit
    self.frames = frames
  }

  package func text(_ report: HistoryReport) -> String {
    var lines = TextLines(style: style)
    lines.line(title(report), emphasized: 1)
    lines.line(balance(report), indent: 2)
    for gap in report.gaps { lines.line("\(gap.isIncomplete ? "incomplete" : "note"): \(gap.explanation)", indent: 2) }
    lines.blank()
    writeSites(report, to: &lines)
    if let object = report.object { writeRows(object, to: &lines) }
    return lines.text
  }

  // MARK: The head

  private func title(_ report: HistoryReport) -> String {
    let type = PlainText.escaped(report.typeName)
    let rest = report.sites.reduce(UInt64(0)) { $0 + $1.rest }
    let open = "\(Decimal.counted(rest, "reference")) never released"
    guard let object = report.object else {
      let example = "such as \(Hexadecimal.text(report.example.rawValue))"
      switch report.scope {
      case .live(let snapshot):
        return
          "\(type): \(Decimal.counted(report.objects, "object")) live \(FindingText.moment(snapshot)), \(example); \(open)"
      case .ever:
        return "\(type): \(Decimal.counted(report.objects, "object")) in all, freed or not, \(example); \(open)"
      }
    }
    let what = "\(type) \(Hexadecimal.text(object.block.address)), \(Decimal.bytes(object.block.size))"
    if object.isFreed { return "\(what), freed; \(open)" }
    if case .live(let snapshot) = report.scope { return "\(what), live \(FindingText.moment(snapshot)); \(open)" }
    return "\(what), not freed; \(open)"
  }

  private func balance(_ report: HistoryReport) -> String {
    let taken = report.sites.reduce(UInt64(0)) { $0 + $1.taken }
    let unmatched = report.unmatchedReleases.reduce(UInt64(0)) { $0 + $1.count }
    let given = report.sites.reduce(UInt64(0)) { $0 + $1.givenUp } + unmatched
    var text = "\(Decimal.counted(taken, "reference")) taken, \(Decimal.grouped(given)) released"
    if report.object != nil {
      if let count = report.count { text += count.isImmortal ? "" : "; the count in memory is \(count.strong)" }
    } else if report.counts.equal > 0, report.counts.different == 0, report.counts.unknown == 0 {
      text += "; the balance of each is its count in memory"
    } else if report.counts.equal > 0 {
      text += "; the balance of \(Decimal.grouped(report.counts.equal)) is their count in memory"
    }
    return text
  }

  // MARK: Places

  private func writeSites(_ report: HistoryReport, to lines: inout TextLines) {
    let open = report.openSites
    if !open.isEmpty {
      lines.line("Never released", emphasized: 3)
      for site in shown(open) { write(site, of: report, to: &lines) }
      writeRest(open.count - shown(open).count, "place", to: &lines)
      lines.blank()
    }
    if !report.unmatchedReleases.isEmpty {
      lines.line("Released, but no retain seen", emphasized: 6)
      for release in shown(report.unmatchedReleases) {
        write(release.place, "\(Decimal.grouped(release.count)) in ", indent: 2, to: &lines)
      }
      writeRest(report.unmatchedReleases.count - shown(report.unmatchedReleases).count, "place", to: &lines)
      lines.blank()
    }
    guard report.object == nil else { return }
    let closed = report.sites.filter { $0.rest == 0 }
    if !closed.isEmpty {
      lines.line("All released", emphasized: 3)
      for site in shown(closed) { write(site, of: report, to: &lines) }
      writeRest(closed.count - shown(closed).count, "place", to: &lines)
      lines.blank()
    }
  }

  private func shown<Element>(_ elements: [Element]) -> ArraySlice<Element> { elements.prefix(limit ?? elements.count) }

  private func writeRest(_ count: Int, _ noun: String, to lines: inout TextLines) {
    if count > 0 { lines.row("… \(count) more \(noun)\(count == 1 ? "" : "s"); show more with --limit", indent: 2) }
  }

  private func write(_ site: RetainSite, of report: HistoryReport, to lines: inout TextLines) {
    let taken = Decimal.grouped(site.taken)
    let number = site.rest == 0 || site.rest == site.taken ? taken : "\(Decimal.grouped(site.rest)) of \(taken)"
    write(site.place, "\(number) \(Self.word(site.operation)) in ", indent: 2, emphasized: site.rest > 0, to: &lines)
    if report.objects > 1 {
      let objects = site.rest > 0 ? site.openObjects : site.objects
      lines.line(
        "in \(objects == report.objects ? "each object" : "\(Decimal.grouped(objects)) of \(Decimal.grouped(report.objects)) objects")",
        indent: 6)
    }
    for release in site.givenUpAt.prefix(3) {
      write(release.place, "\(Decimal.grouped(release.count)) released in ", indent: 6, to: &lines)
    }
    let rest = site.givenUpAt.dropFirst(3)
    if !rest.isEmpty {
      lines.row(
        "\(Decimal.grouped(rest.reduce(0) { $0 + $1.count })) released in \(rest.count) more place\(rest.count == 1 ? "" : "s")",
        indent: 6)
    }
    if site.rest > 0 { writeStack(site.place, to: &lines, indent: 6) }
  }

  private func write(
    _ place: HistoryPlace, _ prefix: String, indent: Int, emphasized: Bool = false, to lines: inout TextLines
  ) {
    lines.pair(
      prefix + name(place), Self.position(place).map(PlainText.escaped), indent: indent, continuation: indent + 4,
      emphasized: emphasized)
    if let through = place.through, place.function != nil, emphasized || style.stacks == .full {
      lines.pair("through \(PlainText.escaped(through))", nil, indent: indent + 4, continuation: indent + 6)
    }
  }

  private func writeStack(_ place: HistoryPlace, to lines: inout TextLines, indent: Int) {
    guard style.stacks == .full else { return }
    let (frames, end) = frames(place.stack)
    let site = ReportSite(operation: .retain, type: "", total: SiteTotal(), frames: frames, end: end)
    StackText(style: style).write(site, to: &lines, indent: indent)
  }

  private func name(_ place: HistoryPlace) -> String {
    guard let function = place.function else {
      return place.through.map(PlainText.escaped)
        ?? (place.stack == .empty ? "(no stack was recorded)" : "code outside of the program")
    }
    return PlainText.escaped(style.stacks == .full ? function.fullFunction : function.function)
  }

  static func position(_ place: HistoryPlace) -> String? {
    guard let function = place.function, let file = function.file else { return nil }
    return function.line.map { "\(fileName(ofPath: file)):\($0)" } ?? fileName(ofPath: file)
  }

  // MARK: Rows

  private func writeRows(_ object: ObjectHistory, to lines: inout TextLines) {
    let rows = object.rows
    lines.line(
      "History, \(Decimal.counted(UInt64(rows.count), "event")): time since the allocation, strong references, what happened",
      emphasized: 1)
    let layout = RowLayout(rows)
    var hidden: [ObjectHistory.Row] = []
    for (index, row) in rows.enumerated() {
      let isEnd = limit.map { index < $0 || index >= rows.count - $0 } ?? true
      guard isEnd || row.rest > 0 else {
        hidden.append(row)
        continue
      }
      writeHidden(&hidden, to: &lines)
      let head = layout.head(row, number: index + 1)
      let name = name(row.place)
      let position = Self.position(row.place).map(PlainText.escaped)
      let length = head.count + 2 + name.count + (position.map { $0.count + 2 } ?? 0)
      if row.event.operation.effect == .free, row.place.function == nil {
        lines.row(head.withoutTrailingSpaces)
      } else if length <= style.width {
        lines.pair("\(head)  \(name)", position, indent: 0, continuation: 8, emphasized: row.rest > 0)
      } else {
        lines.pair(head.withoutTrailingSpaces, nil, indent: 0, continuation: 8, emphasized: row.rest > 0)
        lines.pair(name, position, indent: 8, continuation: 10)
      }
      if row.rest > 0 { writeStack(row.place, to: &lines, indent: 8) }
    }
    writeHidden(&hidden, to: &lines)
  }

  private func writeHidden(_ hidden: inout [ObjectHistory.Row], to lines: inout TextLines) {
    guard !hidden.isEmpty else { return }
    let taken = hidden.reduce(Int64(0)) { $0 + max(0, $1.event.change) }
    let given = hidden.reduce(Int64(0)) { $0 - min(0, $1.event.change) }
    let counts = "\(Decimal.grouped(UInt64(taken))) taken, \(Decimal.grouped(UInt64(given))) released"
    lines.row("… \(Decimal.counted(UInt64(hidden.count), "event")) left out: \(counts); --limit 0 shows all", indent: 2)
    hidden = []
  }

  /// Returns an operation's name in a history.
  static func word(_ operation: Operation) -> String {
    switch operation {
    case .object: "allocated"
    case .retain, .retainN: "retain"
    case .tryRetain: "try retain"
    case .weakLoadStrong: "weak load"
    case .weakTakeStrong: "weak take"
    case .unownedRetainStrong, .unownedRetainStrongAndRelease: "unowned load"
    case .nonatomicRetain, .nonatomicRetainN: "nonatomic retain"
    case .release, .releaseN: "release"
    case .nonatomicRelease, .nonatomicReleaseN: "nonatomic release"
    case .unownedRetain: "unowned retain"
    case .unownedRelease: "unowned release"
    case .free, .reallocFree, .operatorDelete: "freed"
    default: operation.name
    }
  }
}

extension String {
  fileprivate var withoutTrailingSpaces: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

/// The column widths of a history's rows: number, time since the allocation, thread (if there are several), strong
/// references, operation, and partners.
private struct RowLayout {
  private let number: Int
  private let time: Int
  private let thread: Int?
  private let strong: Int
  private let operation: Int
  private let partners: Int

  init(_ rows: [ObjectHistory.Row]) {
    number = String(rows.count).count
    time = rows.map { Self.time($0).count }.max() ?? 0
    let threads = Set(rows.map(\.event.thread))
    thread = threads.count > 1 ? threads.map { String($0).count }.max() : nil
    strong = rows.map { String($0.strong).count }.max() ?? 1
    operation = rows.map { Self.operation($0).count }.max() ?? 0
    partners = rows.map { Self.partners($0).count }.max() ?? 0
  }

  func head(_ row: ObjectHistory.Row, number index: Int) -> String {
    var text = row.rest > 0 ? "▶ " : "  "
    text += Self.left(String(index), number) + "  " + Self.left(Self.time(row), time)
    if let thread { text += "  thread " + Self.left(String(row.event.thread), thread) }
    text +=
      "  " + Self.left(String(row.strong), strong) + "  " + Self.right(Self.operation(row), operation) + "  "
      + Self.right(Self.partners(row), partners)
    return text
  }

  private static func operation(_ row: ObjectHistory.Row) -> String {
    HistoryText.word(row.event.operation) + (row.event.operation.hasCount ? " ×\(row.event.count)" : "")
  }

  private static func partners(_ row: ObjectHistory.Row) -> String {
    let isTaken = row.event.change > 0
    if row.rest > 0 { return isTaken ? "never released" : "not seen taken" }
    guard let first = row.partners.first else { return "" }
    let more = row.partners.count > 1 ? " and \(row.partners.count - 1) more" : ""
    return "\(isTaken ? "→" : "←") \(first)\(more)"
  }

  private static func time(_ row: ObjectHistory.Row) -> String {
    guard let seconds = row.seconds else { return "?" }
    if abs(seconds) < 1e-6 { return "0 s" }
    if abs(seconds) < 1e-3 { return "\(Decimal.fixed(seconds * 1e6, places: 1)) µs" }
    if abs(seconds) < 1 { return "\(Decimal.fixed(seconds * 1e3, places: 2)) ms" }
    return "\(Decimal.fixed(seconds, places: 3)) s"
  }

  private static func left(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
  private static func right(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
