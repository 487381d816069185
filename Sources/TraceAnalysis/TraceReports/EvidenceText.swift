// The evidence of a finding, as text.

import HeapAnalysis
import LeakDetection
import TextWriting
import TraceReading
import Wording

extension FindingText {
  /// Writes why the objects of a finding should be gone, and the path of one instance. Returns sentences about the
  /// object itself, which the caller writes after the figures.
  func writeEvidence(of finding: Finding, to lines: inout TextLines) -> [String] {
    switch finding.evidence {
    case .unreachable(let kind, let way):
      writeUnreachable(finding, kind, to: &lines)
      var remarks: [String] = []
      if case .lost(let count?) = kind, finding.path.first?.kind.isCounted == true {
        let unowned = count.unowned - min(1, count.unowned)
        remarks.append("Its strong count is \(count.strong), unowned \(unowned); no reference to it was found.")
      }
      return remarks + (way.map { [Self.words($0, finding)] } ?? [])
    case .deinitialised:
      write(path: finding.path, to: &lines)
    case .dangling(let ending):
      writeDangling(finding, ending, to: &lines)
    case .suspected(let suspicion, let survivors):
      writeHolder(survivors.retention, to: &lines)
      if let sentence = HolderWords.end(survivors.retention) { lines.line(sentence, indent: 2) }
      if let sentence = HolderWords.reach(survivors.retention) { lines.line(sentence, indent: 2) }
      if survivors.siblings.births > 0 { lines.line(words(suspicion, survivors.siblings), indent: 2) }
      let live = finding.instances > 1 ? suspicion.figures?.live ?? [] : []
      write(survivors.retention.ages, live: live, to: &lines)
      if let figures = suspicion.figures {
        lines.line(Self.words(figures.strength, chance: figures.chance), indent: 2)
      }
      writePath(finding, survivors.retention, to: &lines)
    case .stated(let statement, let survivors):
      writeHolder(survivors.retention, to: &lines)
      lines.line(words(statement), indent: 2)
      write(survivors.retention.ages, live: [], to: &lines)
      writePath(finding, survivors.retention, when: "when the deadline passed", to: &lines)
    case .repeated(let rounds, let retention, _):
      writeHolder(retention, to: &lines)
      lines.line(words(rounds), indent: 2)
      writePath(finding, retention, when: "after the last round", to: &lines)
    case .images(let growth, let retention):
      writeHolder(retention, to: &lines)
      lines.line(Self.words(growth), indent: 2)
      lines.line(Self.words(growth.strength, chance: nil), indent: 2)
      if retention.snapshot != nil { lines.line("Held like this in the last image:", indent: 2) }
      writePath(finding, retention, to: &lines)
    }
    return []
  }

  // MARK: Unreachable and ended objects

  private func writeUnreachable(_ finding: Finding, _ kind: Finding.Unreachable, to lines: inout TextLines) {
    if case .lost = kind, finding.path.count == 1, finding.path[0].kind == .malloc {
      lines.spread(PlainText.escaped(FindingTitle.subject(finding)), placeWords(finding.path[0]), indent: 2)
      return
    }
    let isCycle = finding.evidence.isCycle
    write(path: finding.path, to: &lines, isCycle: isCycle)
    if isCycle, let last = finding.path.last, let first = finding.path.first, let reference = last.reference {
      lines.spread(
        "└ \(ReferenceText.words(reference, to: first)) ──▶ \(PlainText.escaped(first.type))", "(back to the start)",
        indent: min(3 * rowCount(of: finding), style.deepestIndent))
    }
  }

  private func writeDangling(_ finding: Finding, _ ending: Finding.Ending?, to lines: inout TextLines) {
    // If an ended object has no known reference, only its ending is written.
    if ending == nil || finding.path.last?.reference != nil { write(path: finding.path, to: &lines) }
    if let reference = finding.path.last?.reference {
      let target =
        ending.map { "\(PlainText.escaped($0.type)), which was freed" } ?? reference.referentType.map {
          "\(PlainText.escaped($0)), which was freed"
            + (reference.tenantType.map { "; a \(PlainText.escaped($0)) is there now" } ?? "")
        } ?? "memory that was freed"
      lines.spread(
        "└ \(ReferenceText.words(reference, to: nil)) ──▶ \(target)", "",
        indent: min(3 * rowCount(of: finding), style.deepestIndent))
    }
    if let ending { EndingText(style: style).write(ending, to: &lines) }
  }

  /// Returns a sentence about how the program may still reach a finding's objects.
  static func words(_ way: Finding.Way, _ finding: Finding) -> String {
    let holder = PlainText.escaped(way.holder)
    switch way.kind {
    case .number:
      return
        "It is possibly reachable through a number in \(holder). If the program turns that into a reference again, it is no leak."
    case .weak, .unowned:
      let start = way.kind == .weak ? "A weak reference leads to it" : "An unowned reference leads to it"
      return finding.evidence.isCycle
        ? "\(start): \(holder). The program can cut the cycle through it."
        : "\(start): \(holder). The program can still use it."
    }
  }

  // MARK: Reachable objects

  private func writeHolder(_ retention: Finding.Retention, to lines: inout TextLines) {
    let within = retention.ownHolder.map { "\($0), by way of \(retention.holder)" } ?? retention.holder
    lines.line("Held by \(PlainText.escaped(within)).", indent: 2)
  }

  /// `when`: the moment of the path's heap image, if the path is not from the report's heap image; otherwise nil.
  private func writePath(
    _ finding: Finding, _ retention: Finding.Retention, when: String? = nil, to lines: inout TextLines
  ) {
    if let when, let snapshot = retention.snapshot {
      lines.line("Held like this \(when) (snapshot \(snapshot)):", indent: 2)
    }
    write(path: finding.path, from: retention.origin, to: &lines, suspect: retention.suspect)
  }

  private func write(_ ages: Finding.Ages?, live: [UInt64], to lines: inout TextLines) {
    guard let ages else { return }
    var text = "Age: \(Decimal.span(ages.youngest, ages.oldest))."
    if !live.isEmpty {
      text += " Live after each quarter of the run: \(live.map { Decimal.grouped($0) }.joined(separator: ", "))."
    }
    lines.line(text, indent: 2)
  }

  private func words(_ suspicion: Finding.Suspicion, _ siblings: Finding.Siblings) -> String {
    let births = Decimal.grouped(siblings.births)
    if siblings.deaths == 0 { return "None of the \(births) instances created here has been deallocated." }
    var text = "Of \(births) instances created here, \(Decimal.grouped(siblings.deaths)) have been deallocated"
    if suspicion.kind == .accumulating { return text + "; the number that remain keeps growing." }
    if let scope = siblings.scope {
      text += ", \(siblings.scopeShare) % of them within \(PlainText.escaped(scope.function))"
    }
    if let longest = suspicion.figures?.longestLifetime {
      text += ", the longest-lived after \(Decimal.duration(longest))"
    }
    return text + "."
  }

  private static func words(_ strength: Finding.Strength, chance: Double?) -> String {
    let name = strength == .strong ? "Strong suspicion" : "Weak suspicion"
    guard let chance else { return name + "." }
    let odds = 1 / max(chance, 1e-6)
    // With such odds, chance is not the reason why the suspicion is weak. Leave the odds out: they would seem to
    // contradict the word `weak`.
    if odds >= 1e6, strength == .weak { return name + "." }
    if odds < 2 { return name + ": chance alone could explain it." }
    return name
      + ": the odds that chance explains it are \(odds >= 1e6 ? "below " : "")1 in \(Decimal.grouped(UInt64(min(odds, 1e6))))."
  }

  private func words(_ statement: Finding.Statement) -> String {
    switch statement {
    case .scope(let scope):
      let after =
        scope.grace.map {
          $0 > 0 ? " and still alive \(Decimal.duration($0)) after it ended" : " and still alive when it ended"
        } ?? ""
      let runs =
        scope.executions == 1
        ? ""
        : "; \(Decimal.grouped(scope.executionsWithRest)) of its \(Decimal.grouped(scope.executions)) runs left something behind"
      return "Created in scope \(words(scope.place))\(after)\(runs)."
    case .expectation(let expectation):
      let (met, late, violated) = (expectation.met, expectation.late, expectation.violated)
      var text =
        "Expected to be deallocated: \(words(expectation.place)). \(Decimal.grouped(met)) \(met == 1 ? "was" : "were") deallocated in time"
      if late > 0 {
        let delay = expectation.longestDelay.map { " (by up to \(Decimal.duration($0)))" } ?? ""
        text += ", \(Decimal.grouped(late)) late\(delay)"
      }
      return text + ", \(Decimal.grouped(violated)) \(violated == 1 ? "is" : "are") still alive."
    }
  }

  private func words(_ rounds: Finding.Rounds) -> String {
    let place = rounds.place
    let repeated =
      place.name.isEmpty && place.file.isEmpty ? "Work was repeated from outside" : "Repeated: \(words(place))"
    let (first, last) = (rounds.first, rounds.first + rounds.counts.count - 1)
    let numbers = "rounds \(Decimal.grouped(UInt64(max(0, first)))) to \(Decimal.grouped(UInt64(max(0, last))))"
    return "\(repeated). \(Self.name(rounds.measure)) after \(numbers): \(Self.steps(rounds.counts))."
  }

  private static func words(_ growth: Finding.ImageGrowth) -> String {
    "\(name(growth.measure)) in \(Decimal.grouped(UInt64(max(0, growth.images)))) images over \(Decimal.duration(growth.seconds)): \(steps(growth.counts)). The second half of that time added \(Decimal.fixed(growth.lateShare, places: 1)) times as much as the first."
  }

  private static func name(_ measure: Finding.RoundMeasure) -> String {
    switch measure {
    case .objects: "Objects"
    case .elements: "Elements"
    }
  }

  private static func steps(_ counts: [Int]) -> String {
    counts.map { Decimal.grouped(UInt64(max(0, $0))) }.joined(separator: " → ")
  }
}
