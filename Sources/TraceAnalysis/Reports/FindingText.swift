// Findings as text.

/// Puts findings into lines: a heading, one instance drawn, what hangs from it, what to do. Only formats.
struct FindingText {
  let style: TextStyle

  /// One finding by itself.
  static func text(_ finding: Finding, style: TextStyle) -> String {
    var lines = TextLines(style: style)
    FindingText(style: style).write(finding, to: &lines)
    return lines.text
  }

  func write(_ report: LeakReport, to lines: inout TextLines) {
    if let reason = report.unavailable {
      lines.line("Leaks: not looked for: \(reason)", emphasized: 1)
      lines.blank()
      return
    }
    let program = report.programFindings
    let library = report.libraryFindings
    lines.line(summary(report, program), emphasized: 1)
    for remark in report.remarks { lines.line("note: \(remark)", indent: 2) }
    writeSuppressions(report, to: &lines)
    lines.blank()
    for judged in report.judged where judged.isOfProgram { write(judged.finding, standing: report.baseline == nil ? nil : judged.standing, to: &lines) }
    write(report.statements, to: &lines)
    write(report.generations, to: &lines)
    if !library.isEmpty {
      lines.line("In libraries: \(Decimal.counted(UInt64(library.count), "finding")) that \(library.count == 1 ? "is" : "are") not the program's doing", emphasized: 2)
      lines.blank()
      for finding in library { write(finding, to: &lines) }
    }
  }

  private func summary(_ report: LeakReport, _ program: [Finding]) -> String {
    var text: String
    if program.isEmpty {
      text = "Leaks: none found"
    } else {
      let bytes = program.reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
      text = "Leaks: \(Decimal.counted(UInt64(program.count), "finding"))"
      if bytes > 0 { text += ", \(Decimal.bytes(bytes)) retained" }
    }
    text += ", among \(Decimal.counted(UInt64(report.liveBlocks), "live block"))"
    if let snapshot = report.snapshot { text += " \(Self.moment(snapshot))" }
    return text
  }

  private func writeSuppressions(_ report: LeakReport, to lines: inout TextLines) {
    let hidden = report.hiddenFindings
    guard !report.suppressions.entries.isEmpty else { return }
    let bytes = hidden.reduce(UInt64(0)) { $0 &+ $1.retainedBytes.rawValue }
    lines.line("hidden by suppressions: \(Decimal.counted(UInt64(hidden.count), "finding")), \(Decimal.bytes(bytes))", indent: 2)
    for entry in report.suppressions.used {
      lines.line(
        "leak:\(PlainText.escaped(entry.pattern.text))  \(Decimal.counted(entry.findings, "finding")), \(Decimal.counted(entry.objects, "object")), \(Decimal.bytes(entry.bytes))",
        indent: 4)
    }
    for entry in report.suppressions.unused { lines.line("leak:\(PlainText.escaped(entry.pattern.text))  hid nothing", indent: 4) }
  }

  static func moment(_ snapshot: TraceSnapshot) -> String {
    switch snapshot.reason {
    case .exit: "at exit"
    case .signal: "when a signal ended the program"
    case .request, .call, .expectation, .other: snapshot.label.isEmpty ? "in snapshot \(snapshot.number)" : "in snapshot \"\(PlainText.escaped(snapshot.label))\""
    }
  }

  // MARK: One finding

  /// What it is, and how much of it there is.
  func writeHeading(of finding: Finding, to lines: inout TextLines, indent: Int = 0) {
    lines.spread("\(title(finding))  \(PlainText.escaped(subject(finding)))", DiffWords.extent(finding), indent: indent, emphasized: true)
  }

  /// `standing`: how it stands to a baseline, if there is one.
  func write(_ finding: Finding, standing: JudgedFinding.Standing? = nil, to lines: inout TextLines) {
    writeHeading(of: finding, to: &lines)
    if let words = standing.flatMap(words) { lines.line(words, indent: 2) }
    if let outliving = finding.outliving {
      write(outliving, of: finding, to: &lines)
    } else if finding.ending == nil || finding.path.last?.reference != nil {
      // An object that is gone, and that nothing known refers to, is told by its ending alone.
      write(path: finding.path, to: &lines)
    }
    if finding.isCycle, let last = finding.path.last, let first = finding.path.first, let reference = last.reference {
      lines.spread("└ \(words(reference, to: first)) ──▶ \(PlainText.escaped(first.type))", "(back to the start)", indent: min(3 * finding.path.count, style.width / 2))
    }
    if finding.verdict == .dangling, let step = finding.path.last, let reference = step.reference {
      let target = finding.ending.map { "\(PlainText.escaped($0.type)), which was freed" } ?? "memory that was freed"
      lines.spread("└ \(words(reference, to: nil)) ──▶ \(target)", "", indent: 3 * finding.path.count)
    }
    if let ending = finding.ending { EndingText(style: style).write(ending, to: &lines) }
    writeHeld(finding, to: &lines)
    if let count = finding.referenceCount, finding.verdict == .lost, finding.path.first?.kind.isCounted == true {
      lines.line("Its strong count is \(count.strong), unowned \(count.unowned - min(1, count.unowned)); no reference to it was found.", indent: 2)
    }
    if let reason = finding.libraryReason { lines.line("Not the program's: \(PlainText.escaped(reason)).", indent: 2) }
    for line in finding.advice { lines.line(PlainText.escaped(line), indent: 2) }
    lines.blank()
  }

  private func words(_ standing: JudgedFinding.Standing) -> String? {
    switch standing {
    case .new: "New: not in the baseline."
    case .worse(let how): "Worse than accepted: \(how)."
    case .known(let reason): "Known, accepted\(reason.isEmpty ? "." : ": \(PlainText.escaped(reason))")"
    case .hidden, .library: nil
    }
  }

  private func write(_ outliving: Finding.Outliving, of finding: Finding, to lines: inout TextLines) {
    lines.line("Held by \(PlainText.escaped(outliving.holder)).", indent: 2)
    lines.line(evidence(outliving, finding), indent: 2)
    if let youngest = outliving.youngest, let oldest = outliving.oldest {
      let growth = outliving.growth.first == outliving.growth.last ? "" : ", \(outliving.growth.map { Decimal.grouped(UInt64($0)) }.joined(separator: " → ")) by quarters of the work"
      lines.line("\(finding.instances == 1 ? "It is" : "They are") \(Decimal.span(youngest, oldest)) old\(growth).", indent: 2)
    }
    if let snapshot = outliving.snapshot { lines.line("Held so when the time was up (snapshot \(snapshot)):", indent: 2) }
    lines.row(PlainText.escaped(outliving.origin.name), indent: 2)
    write(path: finding.path, to: &lines, suspect: outliving.suspect)
  }

  /// The program's scopes and expectations, also those that nothing is wrong with.
  private func write(_ statements: ProgramStatements, to lines: inout TextLines) {
    guard !statements.scopes.isEmpty || !statements.expectations.isEmpty else { return }
    lines.line("What the program said", emphasized: 4)
    for scope in statements.scopes {
      let open = scope.open > 0 ? ", \(Decimal.grouped(scope.open)) not ended" : ""
      lines.spread(
        "scope \(words(scope.place))",
        "\(Decimal.counted(scope.executions, "run"))\(open), \(Decimal.counted(scope.births, "object")) made, something left after \(Decimal.grouped(scope.executionsWithRest))",
        indent: 2)
    }
    for outcome in statements.expectations {
      var parts = ["\(Decimal.grouped(outcome.met)) gone in time"]
      if outcome.late > 0 { parts.append("\(Decimal.grouped(outcome.late)) late") }
      if outcome.violated > 0 { parts.append("\(Decimal.grouped(outcome.violated)) not gone") }
      if outcome.undecided > 0 { parts.append("\(Decimal.grouped(outcome.undecided)) not due yet") }
      if outcome.unknown > 0 { parts.append("\(Decimal.grouped(outcome.unknown)) not seen made") }
      lines.spread("expectation \(words(outcome.place))", parts.joined(separator: ", "), indent: 2)
    }
    lines.blank()
  }

  private func write(_ generations: [Generation], to lines: inout TextLines) {
    guard !generations.isEmpty else { return }
    lines.line("Live objects by generation", emphasized: 4)
    for generation in generations {
      let name = generation.start.map { words($0.place) } ?? "before the first mark"
      lines.spread(name, "\(Decimal.counted(generation.objects, "object")), \(Decimal.bytes(generation.bytes.rawValue))", indent: 2)
      let shown = generation.shares.prefix(4).map { "\(Decimal.grouped($0.objects)) × \(PlainText.escaped($0.type)) (\(Decimal.bytes($0.bytes.rawValue)))" }
      let rest = generation.shares.count - shown.count
      if !shown.isEmpty { lines.line(shown.joined(separator: ", ") + (rest > 0 ? ", \(rest) more types" : ""), indent: 4) }
    }
    lines.blank()
  }

  private func words(_ place: MarkPlace) -> String {
    "\"\(PlainText.escaped(place.name))\"\(place.file.isEmpty ? "" : " (\(PlainText.escaped(fileName(ofPath: place.file))):\(place.line))")"
  }

  private func words(_ statement: Finding.Statement, _ finding: Finding) -> String {
    switch statement {
    case .scope(let place, let executions, let withRest, let grace):
      let after = grace.map { $0 > 0 ? ", and still there \(Decimal.duration($0)) after its end" : ", and still there at its end" } ?? ""
      let runs = executions == 1 ? "" : "; something was left after \(Decimal.grouped(withRest)) of its \(Decimal.grouped(executions)) runs"
      return "Made in the scope \(words(place))\(after)\(runs)."
    case .expectation(let place, let met, let late, let violated, let delay):
      var text = "Expected to be gone: \(words(place)). \(Decimal.grouped(met)) \(met == 1 ? "was" : "were") in time"
      if late > 0 { text += ", \(Decimal.grouped(late)) late\(delay.map { " (by up to \(Decimal.duration($0)))" } ?? "")" }
      return text + ", \(Decimal.grouped(violated)) \(violated == 1 ? "is" : "are") still there."
    }
  }

  /// Why it should be gone.
  private func evidence(_ outliving: Finding.Outliving, _ finding: Finding) -> String {
    if let statement = outliving.statement { return words(statement, finding) }
    let births = Decimal.grouped(outliving.births)
    guard outliving.deaths > 0, finding.verdict == .outlived else {
      return "None of the \(births) made there has ended\(outliving.registration == nil ? ", and their number grows with the work done" : "")."
    }
    var text = "Of \(births) made there, \(Decimal.grouped(outliving.deaths)) have ended"
    if let scope = outliving.scope { text += ", \(outliving.scopeShare) % of them within \(PlainText.escaped(scope.function))" }
    if let lifetime = outliving.siblingLifetime { text += "\(outliving.scope == nil ? "," : " and") nine in ten after less than \(Decimal.duration(lifetime))" }
    return text + "."
  }

  func title(_ finding: Finding) -> String {
    switch finding.verdict {
    case .retainCycle: "RETAIN CYCLE"
    case .lost: "LOST"
    case .deinitialised: "DEINITIALISED, STILL HELD"
    case .suspended: "SUSPENDED FOR EVER"
    case .dangling: finding.ending?.used == nil ? "DANGLING REFERENCE" : "USED AFTER ITS END"
    case .outlived: "OUTLIVED ITS SCOPE"
    case .accumulating: "ACCUMULATING"
    }
  }

  func subject(_ finding: Finding) -> String {
    switch finding.verdict {
    case .retainCycle:
      var names: [String] = []
      for step in finding.path where step.kind == .object && !names.contains(step.type) { names.append(step.type) }
      if names.isEmpty { for step in finding.path where !names.contains(step.type) { names.append(step.type) } }
      return names.count == 1 ? "\(names[0]) ↺" : names.joined(separator: " ⇄ ")
    case .suspended, .lost: return name(finding.path.first)
    case .deinitialised, .outlived, .accumulating: return name(finding.path.last)
    case .dangling:
      if let ending = finding.ending, ending.used != nil { return ending.type }
      return finding.path.first.map { "\($0.type).\($0.reference?.name ?? "?")" } ?? ""
    }
  }

  private func name(_ step: Finding.Step?) -> String {
    guard let step else { return "" }
    switch step.kind {
    case .closure: return step.function?.closureName ?? "closure context"
    case .box: return "box of a captured variable"
    case .malloc: return "\(Decimal.bytes(step.size.rawValue)) of \(step.type)"
    case .task: return step.function.map { "Task in \($0.closureName)" } ?? "Task"
    default: return step.type
    }
  }

  /// An object a line, each further in than the one that holds it.
  func write(path: [Finding.Step], to lines: inout TextLines, limit: Int = 40) {
    guard path.count > limit else {
      for index in path.indices { write(index, of: path, to: &lines, level: index) }
      return
    }
    let ends = limit / 2
    for index in 0..<ends { write(index, of: path, to: &lines, level: index) }
    lines.row("… \(path.count - 2 * ends) more objects", indent: 3 * ends)
    for index in path.count - ends..<path.count { write(index, of: path, to: &lines, level: index - path.count + 2 * ends) }
  }

  /// Below a root's name. `suspect`: index of the object that the reference leads to which should be gone; it is marked. Blocks of a library that lie
  /// between, and of which nothing is known but that they hold each other, are counted.
  private func write(path: [Finding.Step], to lines: inout TextLines, suspect: Int) {
    var level = 1
    var index = 0
    while index < path.count {
      var end = index
      while end < path.count - 1, end != suspect, end + 1 != suspect, isNameless(end, of: path) { end += 1 }
      if end - index >= 3 {
        lines.row("└ … \(end - index) blocks of a library …", indent: min(3 * level, style.width / 2))
        index = end
      } else {
        write(index, of: path, to: &lines, level: level, isSuspect: index == suspect)
        index += 1
      }
      level += 1
    }
  }

  private func isNameless(_ index: Int, of path: [Finding.Step]) -> Bool {
    let step = path[index]
    guard step.kind == .malloc || step.kind == .object && step.type.contains("NSCF") else { return false }
    func isPlain(_ reference: Finding.Reference?) -> Bool { reference.map { $0.name.isEmpty && $0.strength == .conservative } ?? true }
    return isPlain(step.reference) && (index == 0 || isPlain(path[index - 1].reference))
  }

  private func write(_ index: Int, of path: [Finding.Step], to lines: inout TextLines, level: Int, isSuspect: Bool = false) {
    let step = path[index]
    let place = step.kind == .closure ? Advice.position(step.function) : Advice.position(step.allocation)
    var made = ""
    if step.kind != .closure, let frame = step.allocation { made = "allocated in \(frame.function)" }
    let right = PlainText.escaped([made, place ?? ""].filter { !$0.isEmpty }.joined(separator: "  "))
    let name = PlainText.escaped(name(step))
    guard level > 0 else {
      lines.spread(name, right, indent: 2)
      return
    }
    let indent = min(3 * level, style.width / 2)
    let reference = index > 0 ? path[index - 1].reference.map { words($0, to: step) } : nil
    lines.spread(reference.map { "└ \($0) ──▶ \(name)" } ?? "└ \(name)", right, indent: indent)
    if isSuspect {
      let width = max(3, min((reference ?? name).count, style.width - indent - 12))
      lines.row(String(repeating: "~", count: width) + " suspect", indent: indent + 2)
    }
  }

  /// `target`: what the reference leads to; nil for memory that is gone.
  private func words(_ reference: Finding.Reference, to target: Finding.Step?) -> String {
    var name = reference.name
    if let payload = reference.caseName, !payload.isEmpty { name += name.isEmpty ? "case \(payload)" : " case \(payload)" }
    name = PlainText.escaped(name)
    var how = reference.strength == .conservative ? "scanned word" : reference.strength.key
    if reference.isClosure {
      how = "closure"
      // The context is named for the closure; where an object is the context, the reference has to say which closure it is.
      if target?.kind != .closure, let closure = reference.closure {
        how = "\(PlainText.escaped(closure.closureName))\(reference.capturesSelf ? " captures self" : "")"
      }
    }
    if reference.isCapture { return "captures\(name.isEmpty ? "" : " \(name)"), \(how)" }
    let field = name.isEmpty ? "" : name.hasPrefix("[") || name.hasPrefix("case") ? name : ".\(name)"
    return field.isEmpty ? how : "\(field)  \(how)"
  }

  private func writeHeld(_ finding: Finding, to lines: inout TextLines) {
    write(finding.held, "Each also keeps", to: &lines)
    write(finding.heldTogether ?? [], "Together they keep", to: &lines)
  }

  private func write(_ held: [Finding.HeldType], _ words: String, to lines: inout TextLines) {
    guard !held.isEmpty else { return }
    let shown = held.prefix(4).map { "\(Decimal.grouped($0.count)) × \(PlainText.escaped($0.name)) (\(Decimal.bytes($0.bytes.rawValue)))" }
    let rest = held.count - shown.count
    lines.line("\(words): \(shown.joined(separator: ", "))\(rest > 0 ? ", \(rest) more types" : "")", indent: 2)
  }
}
