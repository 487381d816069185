// All findings of a run as text, with their numbers and facts about the run.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting
import TraceReading
import Wording

extension FindingText {
  /// Writes the counts, the findings by certainty, and the facts about the run.
  func write(_ report: LeakReport, to lines: inout TextLines) {
    lines.line(Self.conclusion(report))
    guard report.conclusion != .notChecked else { return lines.blank() }
    let library = report.libraryFindings.filter { $0.owner != .unknown }
    let unknown = report.libraryFindings.filter { $0.owner == .unknown }
    for remark in report.remarks { lines.line("note: \(remark)", indent: 2) }
    let unlisted = report.unlisted
    if !unlisted.isEmpty {
      let bytes = unlisted.reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
      lines.line(
        "\(Decimal.counted(UInt64(unlisted.count), "weak suspicion")) not listed, \(Decimal.bytes(bytes)); --weak lists \(unlisted.count == 1 ? "it" : "them")",
        indent: 2)
    }
    writeSuppressions(report, to: &lines)
    lines.blank()
    write(report, "Proven", to: &lines) { $0.certainty == .proven }
    write(report, "Likely lost: the program could still find these objects", to: &lines) { $0.evidence.isDoubtful }
    write(report, "Suspected: something still holds these objects, but probably should not", to: &lines) {
      $0.certainty == .suspected && !$0.evidence.isDoubtful
    }
    write(report.grown, to: &lines)
    if let candidates = report.candidates { write(candidates, to: &lines) }
    write(report.statements, to: &lines)
    write(report.generations, to: &lines)
    write(library, to: &lines) { "In libraries: \($0) that the program did not cause" }
    write(unknown, to: &lines) { "Of unknown origin: \($0) of the program or of its libraries" }
  }

  /// Writes findings that are not the program's fault. `title`: makes a title from the number of findings.
  private func write(_ findings: [Finding], to lines: inout TextLines, title: (String) -> String) {
    guard !findings.isEmpty else { return }
    lines.line(title(Decimal.counted(UInt64(findings.count), "finding")), emphasized: 2)
    lines.blank()
    for finding in findings { write(finding, to: &lines) }
  }

  /// Writes one of the three parts: proven, likely, or suspected.
  private func write(
    _ report: LeakReport, _ title: String, to lines: inout TextLines, of isPart: (Finding) -> Bool
  ) {
    let shown = report.judged.filter { $0.isOfProgram && isPart($0.finding) && report.isListed($0.finding) }
    guard !shown.isEmpty else { return }
    lines.line(title, emphasized: 1)
    lines.blank()
    for judged in shown { write(judged.finding, standing: report.baseline == nil ? nil : judged.standing, to: &lines) }
  }

  /// Returns the conclusion as a sentence: the leaks by certainty, the growth, or that nothing was found.
  static func conclusion(_ report: LeakReport) -> [Phrase] {
    let answer =
      switch report.conclusion {
      case .notChecked: [Phrase("not checked: \(report.unavailable ?? "")")]
      case .leak, .suspected: leaks(report.programFindings, of: report.largeLibraryFindings)
      case .growing: [Phrase("none found, but \(growth(report.grown)),")]
      case .kept, .levelled, .steady: [Phrase("none found,")]
      }
    let title = Phrase("Leaks:", .bold)
    guard report.conclusion != .notChecked else { return [title] + answer }
    let moment = report.snapshot.map { " \(Self.moment($0))" } ?? ""
    let memory = memory(report).map { "; \($0)" } ?? ""
    return [title] + answer
      + [Phrase("among \(Decimal.counted(UInt64(report.liveBlocks), "live block"))\(moment)\(memory)")]
  }

  /// Returns why the process needs its memory, if neither findings nor growth explain it; nil if that is not known.
  private static func memory(_ report: LeakReport) -> String? {
    if report.keepsMoreThanConcluded { return report.residentMemory.flatMap(MemoryWords.kept) }
    return report.conclusion == .levelled ? report.level.map { MemoryWords.text($0, of: "run") } : nil
  }

  /// `libraries`: leaks by libraries that are large enough for the first line.
  private static func leaks(_ findings: [Finding], of libraries: [Finding]) -> [Phrase] {
    let likely = findings.count(where: \.evidence.isDoubtful)
    let proven = findings.count { $0.certainty == .proven }
    let numbers: [(Int, String, Tint)] = [
      (proven, "proven", .proven), (likely, "likely", .suspected),
      (findings.count - proven - likely, "suspected", .suspected), (libraries.count, "by a library", .proven),
    ]
    let bytes = (findings + libraries).reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
    let counts = numbers.filter { $0.0 > 0 }.map { Phrase("\($0.0) \($0.1),", .tinted($0.2)) }
    return counts + (bytes > 0 ? [Phrase("\(Decimal.bytes(bytes)) retained,")] : [])
  }

  /// Names the largest collection that grew.
  private static func growth(_ grown: [GrownCollection]) -> String {
    let rest = grown.count - 1
    let others = rest > 0 ? " and \(Decimal.counted(UInt64(rest), "more collection"))" : ""
    return "\(PlainText.escaped(grown[0].holder))\(others) grew during the run"
  }

  private func writeSuppressions(_ report: LeakReport, to lines: inout TextLines) {
    let hidden = report.hiddenFindings
    guard !report.suppressions.entries.isEmpty else { return }
    let bytes = hidden.reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
    lines.line(
      "hidden by suppressions: \(Decimal.counted(UInt64(hidden.count), "finding")), \(Decimal.bytes(bytes))", indent: 2)
    for entry in report.suppressions.used {
      lines.line(
        "leak:\(PlainText.escaped(entry.pattern.text))  \(Decimal.counted(entry.findings, "finding")), \(Decimal.counted(entry.objects, "object")), \(Decimal.bytes(entry.bytes))",
        indent: 4)
    }
    for entry in report.suppressions.unused {
      lines.line("leak:\(PlainText.escaped(entry.pattern.text))  hid nothing", indent: 4)
    }
  }

  static func moment(_ snapshot: TraceSnapshot) -> String {
    switch snapshot.reason {
    case .exit: "at exit"
    case .signal: "when a signal ended the program"
    case .inspection: "in the process"
    case .request, .call, .expectation, .round, .interval, .size, .limit, .other:
      snapshot.label.isEmpty ? "in snapshot \(snapshot.number)" : "in snapshot \"\(PlainText.escaped(snapshot.label))\""
    }
  }

  /// Writes the largest collections that grew.
  private func write(_ grown: [GrownCollection], to lines: inout TextLines) {
    guard !grown.isEmpty else { return }
    lines.line("Grew during the run: facts, which accuse no code", emphasized: 4)
    for row in grown.prefix(Self.shownGrown) {
      let holders = row.holders > 1 ? "in \(Decimal.grouped(UInt64(row.holders))) holders: " : ""
      let quarters = row.quarters.map { Decimal.grouped(UInt64($0)) }.joined(separator: ", ")
      lines.spread(
        PlainText.escaped(row.holder),
        "\(holders)\(Decimal.grouped(UInt64(row.elements))) × \(PlainText.escaped(row.type)), \(Decimal.bytes(row.bytes.rawValue)); after each quarter \(quarters)",
        indent: 2)
    }
    if grown.count > Self.shownGrown {
      let rest = grown.dropFirst(Self.shownGrown).reduce(UInt64(0)) { $0 &+ $1.bytes.rawValue }
      lines.line(
        "and \(Decimal.counted(UInt64(grown.count - Self.shownGrown), "more collection")), \(Decimal.bytes(rest)): see --format json",
        indent: 2)
    }
    lines.blank()
  }

  private static let shownGrown = 10

  /// Writes every candidate for a suspicion, with the effects of the rules on it.
  private func write(_ candidates: [SuspicionAccount], to lines: inout TextLines) {
    lines.line("Candidates for a suspicion: \(Decimal.grouped(UInt64(candidates.count)))", emphasized: 4)
    for account in candidates {
      let place = [account.place?.function, account.place?.position].compactMap { $0 }.joined(separator: "  ")
      // With a single heap image, the number of births is unknown.
      let births = account.births > 0 ? " of \(Decimal.grouped(account.births))" : ""
      let live = Decimal.grouped(UInt64(account.live)) + births
      let points = account.points.map { " (\(Self.signed($0)))" } ?? ""
      lines.spread(
        "\(account.outcome.rawValue)\(points)  \(PlainText.escaped(account.type))",
        "\(live) live, \(Decimal.bytes(account.bytes.rawValue))",
        indent: 2, emphasized: true)
      if !place.isEmpty { lines.line("made in \(PlainText.escaped(place))", indent: 4) }
      for entry in account.entries {
        let holders = entry.times > 1 ? ", and so in \(Decimal.grouped(UInt64(entry.times - 1))) more holders" : ""
        let figures = entry.figures.isEmpty ? "" : " (\(entry.figures)\(holders))"
        let points = entry.points == 0 ? "" : " \(Self.signed(entry.points))"
        lines.line(
          "\(entry.effect.rawValue)\(points)  \(entry.rule.rawValue)\(figures): \(entry.rule.reason)", indent: 4)
      }
    }
    lines.blank()
  }

  private static func signed(_ points: Int) -> String { points > 0 ? "+\(points)" : "\(points)" }

  /// Writes the program's scopes and expectations, including those without leftovers.
  private func write(_ statements: ProgramStatements, to lines: inout TextLines) {
    guard !statements.scopes.isEmpty || !statements.expectations.isEmpty else { return }
    lines.line("Scopes and expectations", emphasized: 4)
    for scope in statements.scopes {
      let open = scope.open > 0 ? ", \(Decimal.grouped(scope.open)) not ended" : ""
      lines.spread(
        "scope \(words(scope.place))",
        "\(Decimal.counted(scope.executions, "run"))\(open), \(Decimal.counted(scope.births, "object")) created, leftovers after \(Decimal.grouped(scope.executionsWithRest))",
        indent: 2)
    }
    for outcome in statements.expectations {
      var parts = ["\(Decimal.grouped(outcome.met)) gone in time"]
      if outcome.late > 0 { parts.append("\(Decimal.grouped(outcome.late)) late") }
      if outcome.violated > 0 { parts.append("\(Decimal.grouped(outcome.violated)) not gone") }
      if outcome.undecided > 0 { parts.append("\(Decimal.grouped(outcome.undecided)) not due yet") }
      if outcome.unknown > 0 { parts.append("\(Decimal.grouped(outcome.unknown)) never seen allocated") }
      lines.spread("expectation \(words(outcome.place))", parts.joined(separator: ", "), indent: 2)
    }
    lines.blank()
  }

  private func write(_ generations: [Generation], to lines: inout TextLines) {
    guard !generations.isEmpty else { return }
    lines.line("Live objects by generation", emphasized: 4)
    for generation in generations {
      let name = generation.start.map { words($0.place) } ?? "before the first mark"
      lines.spread(
        name, "\(Decimal.counted(generation.objects, "object")), \(Decimal.bytes(generation.bytes.rawValue))", indent: 2
      )
      let shown = generation.shares.prefix(4).map {
        "\(Decimal.grouped($0.objects)) × \(PlainText.escaped($0.type)) (\(Decimal.bytes($0.bytes.rawValue)))"
      }
      let rest = generation.shares.count - shown.count
      if !shown.isEmpty {
        lines.line(
          shown.joined(separator: ", ") + (rest > 0 ? ", \(Decimal.counted(UInt64(rest), "more type"))" : ""), indent: 4
        )
      }
    }
    lines.blank()
  }
}
