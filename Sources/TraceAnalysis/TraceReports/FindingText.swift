// Findings as text.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting
import TraceReading
import Wording

/// Formats findings as lines: a heading, one drawn instance, its retained memory, and the advice. Formats only; makes
/// no decisions.
struct FindingText {
  enum Addresses { case hidden, shown }

  let style: TextStyle
  /// Whether to show the addresses of the objects on a path, for users who search for a certain object.
  var addresses = Addresses.hidden
  /// Stacks by the fingerprint of their finding. Written only if the style has full stacks.
  var stacks: [String: FindingStacks] = [:]

  /// Returns the text of one finding.
  static func text(_ finding: Finding, style: TextStyle) -> String {
    var lines = TextLines(style: style)
    FindingText(style: style).write(finding, to: &lines)
    return lines.text
  }

  /// Writes the verdict, the subject and the extent of a finding.
  func writeHeading(of finding: Finding, to lines: inout TextLines, indent: Int = 0) {
    let verdict = VerdictWords(finding.evidence).heading
    lines.spread(
      "\(verdict)  \(PlainText.escaped(FindingTitle.subject(finding)))",
      FindingTitle.extent(finding), indent: indent, emphasized: true, start: TintedStart(verdict, Tint(finding)))
  }

  /// Writes a whole finding. `standing`: its standing relative to a baseline, if there is one.
  func write(_ finding: Finding, standing: JudgedFinding.Standing? = nil, to lines: inout TextLines) {
    writeHeading(of: finding, to: &lines)
    if let words = standing.flatMap(words) { lines.line(words, indent: 2) }
    if let line = FindingTitle.wrapperLine(finding) { lines.line(PlainText.escaped(line), indent: 2) }
    let remarks = writeEvidence(of: finding, to: &lines)
    writePlaces(finding, to: &lines)
    writeSamples(finding, to: &lines)
    if let sentence = TestWords.sentence(finding) { lines.line(sentence, indent: 2) }
    writeHeld(finding, to: &lines)
    for remark in remarks { lines.line(remark, indent: 2) }
    if let reason = finding.owner.reason {
      lines.line("\(FindingDocument.owner(finding)): \(PlainText.escaped(reason)).", indent: 2)
    }
    for (index, line) in finding.advice.map(AdviceWords.sentence).enumerated() {
      lines.line(
        (index == 0 ? "Fix: " : "") + PlainText.escaped(line), indent: 2, emphasized: index == 0 ? 1 : 0,
        tint: .fix)
    }
    lines.row("Fingerprint: \(PlainText.escaped(finding.fingerprint))", indent: 2, isDimmed: true)
    if style.stacks == .full, let stacks = stacks[finding.fingerprint] {
      FindingStackText(style: style).write(stacks, to: &lines)
    }
    lines.blank()
  }

  func rowCount(of finding: Finding) -> Int {
    PathFolding.rows(of: finding.path, isCycle: finding.evidence.isCycle, isFolded: style.paths == .folded).count
  }

  private func words(_ standing: JudgedFinding.Standing) -> String? {
    switch standing {
    case .new: "New: not in the baseline."
    case .worse(let how): "Worse than accepted: \(how)."
    case .known(let reason): "Known, accepted\(reason.isEmpty ? "." : ": \(PlainText.escaped(reason))")"
    case .hidden, .library: nil
    }
  }

  func words(_ place: MarkPlace) -> String {
    "\"\(PlainText.escaped(place.name))\"\(place.file.isEmpty ? "" : " (\(PlainText.escaped(fileName(ofPath: place.file))):\(place.line))")"
  }

  /// Writes one line per object. Each object is indented further than its holder. A run of library objects is one line.
  func write(path: [Finding.Step], to lines: inout TextLines, isCycle: Bool = false, limit: Int = 40) {
    let rows = PathFolding.rows(of: path, isCycle: isCycle, isFolded: style.paths == .folded)
    guard rows.count > limit else {
      for (level, row) in rows.enumerated() { write(row, of: path, to: &lines, level: level) }
      return
    }
    let ends = limit / 2
    for level in 0..<ends { write(rows[level], of: path, to: &lines, level: level) }
    lines.row("… \(rows.count - 2 * ends) more objects", indent: min(3 * ends, style.deepestIndent))
    for (level, row) in rows.suffix(ends).enumerated() { write(row, of: path, to: &lines, level: ends + level) }
  }

  /// Writes a path below the name of its root. `suspect`: index of the object whose incoming reference should not
  /// exist. That reference is marked.
  func write(path: [Finding.Step], from origin: PathOrigin, to lines: inout TextLines, suspect: Int) {
    var rows = PathFolding.rows(of: path, below: suspect, isFolded: style.paths == .folded)[...]
    if case .task? = rows.first {
      write(rows.removeFirst(), of: path, to: &lines, level: 0)
    } else {
      lines.row(PlainText.escaped(origin.name), indent: 2)
    }
    for (index, row) in rows.enumerated() {
      write(row, of: path, to: &lines, level: index + 1)
      if case .object(suspect) = row { markSuspect(row, of: path, level: index + 1, to: &lines) }
    }
  }

  private func write(_ row: PathFolding.Row, of path: [Finding.Step], to lines: inout TextLines, level: Int) {
    switch row {
    case .object(let index): write(index, of: path, to: &lines, level: level)
    case .folded(let range):
      let reference =
        range.lowerBound > 0 ? path[range.lowerBound - 1].reference.map { ReferenceText.words($0, to: nil) } : nil
      let steps =
        "… \(Decimal.counted(UInt64(range.count), "step")) of \(PlainText.escaped(PathFolding.libraries(path[range]))) …"
      lines.row(
        "└ \(reference.map { "\($0) ──▶ " } ?? "")\(steps)", indent: min(3 * level, style.deepestIndent), isDimmed: true
      )
    case .repeated(_, let count):
      lines.row(
        "└ \(PathFolding.words(ofRepeated: count))",
        indent: min(3 * level, style.deepestIndent), isDimmed: true)
    case .task(let task, _):
      lines.spread(
        PlainText.escaped(PathFolding.name(ofTask: path[task])),
        PlainText.escaped(PathFolding.state(ofTask: path[task])), indent: 2)
    }
  }

  private func write(_ index: Int, of path: [Finding.Step], to lines: inout TextLines, level: Int) {
    let step = path[index]
    let right = placeWords(step)
    let name =
      PlainText.escaped(FindingTitle.name(step))
      + (addresses == .shown ? " \(Hexadecimal.text(step.address.rawValue))" : "")
    let isDimmed = step.library != nil
    guard level > 0 else {
      lines.spread(name, right, indent: 2, isDimmed: isDimmed)
      return
    }
    let reference = index > 0 ? path[index - 1].reference.map { ReferenceText.words($0, to: step) } : nil
    lines.spread(
      reference.map { "└ \($0) ──▶ \(name)" } ?? "└ \(name)", right, indent: min(3 * level, style.deepestIndent),
      isDimmed: isDimmed)
  }

  /// Returns the place that made a step's object; for a closure, the place of its code.
  func placeWords(_ step: Finding.Step) -> String {
    let place = step.kind == .closure ? step.function?.position : step.place?.position
    var made = step.isFromBefore == true && place == nil ? "allocated before the recording began" : ""
    if step.kind != .closure, let frame = step.place { made = "allocated in \(frame.function)" }
    if style.paths == .full, step.ownAllocation != nil, let inner = step.allocation { made += " by \(inner.function)" }
    return PlainText.escaped([made, place ?? ""].filter { !$0.isEmpty }.joined(separator: "  "))
  }

  private func markSuspect(_ row: PathFolding.Row, of path: [Finding.Step], level: Int, to lines: inout TextLines) {
    guard case .object(let index) = row else { return }
    let indent = min(3 * level, style.deepestIndent)
    let marked = index > 0 ? path[index - 1].reference.map { ReferenceText.words($0, to: path[index]) } : nil
    let width = max(
      3, min((marked ?? PlainText.escaped(FindingTitle.name(path[index]))).count, style.width - indent - 12))
    lines.row(String(repeating: "~", count: width) + " suspect", indent: indent + 2)
  }

  /// Writes the places where the sampled instances were allocated.
  private func writeSamples(_ finding: Finding, to lines: inout TextLines) {
    let sampled = UInt64(finding.sampledInstances)
    guard sampled > 0 else { return }
    let all = UInt64(max(0, finding.instances))
    if sampled == all {
      // The path already names the place for memory without a type.
      if finding.origins.samples.count == 1, finding.path.first?.kind == .malloc, !finding.evidence.isCycle { return }
      lines.line("Allocated in", indent: 2)
    } else {
      lines.line(
        "\(Decimal.grouped(sampled)) of \(Decimal.grouped(all)) \(sampled == 1 ? "was" : "were") sampled, allocated in",
        indent: 2)
    }
    for sample in finding.origins.samples.prefix(Self.shownPlaces) {
      let place = [sample.place?.function, sample.place?.position].compactMap { $0 }.joined(separator: "  ")
      lines.spread(
        Decimal.counted(UInt64(max(0, sample.instances)), "instance"),
        place.isEmpty ? "unknown" : PlainText.escaped(place), indent: 4)
    }
    let rest = finding.origins.samples.dropFirst(Self.shownPlaces)
    if !rest.isEmpty { lines.line("and \(Decimal.counted(UInt64(rest.count), "more place"))", indent: 4) }
  }

  /// If there are several places, writes each place with its number of instances.
  private func writePlaces(_ finding: Finding, to lines: inout TextLines) {
    guard finding.places.count > 1 else { return }
    lines.line("In \(Decimal.grouped(UInt64(finding.places.count))) places:", indent: 2)
    for place in finding.places.prefix(Self.shownPlaces) {
      let figures = [
        Decimal.counted(UInt64(max(0, place.instances)), "instance"),
        finding.verdict == .dangling ? nil : "\(Decimal.bytes(place.retainedBytes.rawValue)) retained",
      ].compactMap { $0 }.joined(separator: ", ")
      let where_ = [place.place?.function, place.place?.position].compactMap { $0 }.joined(separator: "  ")
      lines.spread(figures, where_.isEmpty ? "unknown" : PlainText.escaped(where_), indent: 4)
    }
    let rest = finding.places.dropFirst(Self.shownPlaces)
    if !rest.isEmpty {
      let instances = rest.reduce(0) { $0 + UInt64(max(0, $1.instances)) }
      lines.line(
        "and \(Decimal.grouped(UInt64(rest.count))) more, \(Decimal.counted(instances, "instance"))", indent: 4)
    }
  }

  private static let shownPlaces = 10

  private func writeHeld(_ finding: Finding, to lines: inout TextLines) {
    let subject = finding.instances == 1 ? "It" : finding.held.isEqualForEach ? "Each" : "The shown one"
    write(finding.held.types, "\(subject) also keeps", to: &lines)
    write(finding.held.together, "Together they keep", to: &lines)
  }

  private func write(_ held: [Finding.HeldType], _ words: String, to lines: inout TextLines) {
    guard !held.isEmpty else { return }
    let shown = held.prefix(4).map {
      "\(Decimal.grouped($0.count)) × \(PlainText.escaped($0.name)) (\(Decimal.bytes($0.bytes.rawValue)))"
    }
    let rest = held.count - shown.count
    lines.line(
      "\(words): \(shown.joined(separator: ", "))\(rest > 0 ? ", \(Decimal.counted(UInt64(rest), "more type"))" : "")",
      indent: 2)
  }
}

extension Tint {
  init(_ finding: Finding) { self = finding.certainty == .proven ? .proven : .suspected }
}
