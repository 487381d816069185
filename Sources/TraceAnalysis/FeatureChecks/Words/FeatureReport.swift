// The verdicts of a check, as text and as JSON.

import ProcessInspection
import TextWriting
import TraceReading

/// Formats the output of `leaktrace doctor`.
package struct FeatureReport {
  /// The version of the JSON. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  private let facts: CheckedFacts
  private let verdicts: [FeatureVerdict]

  package init(_ facts: CheckedFacts, _ verdicts: [FeatureVerdict]) { (self.facts, self.verdicts) = (facts, verdicts) }

  /// True if every feature works, perhaps under conditions.
  package var allWork: Bool { verdicts.allSatisfy(\.works) }

  // MARK: Text

  /// The width of the column of names, with the gap after it.
  private static let nameColumns = 14

  package func text(style: TextStyle) -> String {
    var lines = TextLines(style: style)
    for fact in factLines { lines.line(fact) }
    lines.blank()
    for verdict in verdicts {
      let name = verdict.feature.title.padding(to: Self.nameColumns)
      writeHanging(name, sentence(of: verdict), at: Self.nameColumns, in: &lines)
      if let remedy = remedyText(of: verdict) {
        writeHanging(
          String(repeating: " ", count: Self.nameColumns) + "enable it: ", remedy, at: Self.nameColumns + 2, in: &lines)
      }
    }
    if !remarks.isEmpty { lines.blank() }
    for remark in remarks { lines.line("note: \(remark)") }
    return lines.text
  }

  /// Writes a paragraph with a hanging indent: `beginning`, then the words. Further lines start at `column`.
  private func writeHanging(_ beginning: String, _ words: String, at column: Int, in lines: inout TextLines) {
    var line = beginning
    var isEmpty = true
    for word in words.split(separator: " ") {
      let used = line.count + (isEmpty ? 0 : 1)
      if !isEmpty, used + word.count > lines.style.width {
        lines.row(line)
        line = String(repeating: " ", count: column)
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    // A single word is longer than the line. `pair` breaks it where it breaks long names.
    if line.count > lines.style.width {
      lines.pair(line, nil, indent: 0, continuation: column)
    } else {
      lines.row(line)
    }
  }

  private func sentence(of verdict: FeatureVerdict) -> String {
    let words = ObstacleWords(facts)
    switch verdict.standing {
    case .works: return "works" + (evidence(of: verdict.feature).map { ": \($0)" } ?? "")
    case .conditional(let conditions):
      return "works " + conditions.map { words.text($0, of: verdict.feature) }.joined(separator: "; and ")
    case .fails(let obstacle): return "does not work: " + words.text(obstacle)
    }
  }

  private func remedyText(of verdict: FeatureVerdict) -> String? {
    verdict.remedy.map { RemedyWords(facts).text($0, verdict.feature) }
  }

  /// Returns the result of an attempt in words; nil if there was no attempt.
  private func evidence(of feature: Feature) -> String? {
    func recorded(_ trial: RecordedTrial?) -> String? {
      trial.map {
        "\(PlainText.escaped($0.program)) was recorded, with \(Decimal.counted($0.events, "event")) and a heap image"
      }
    }
    func pause(_ nanoseconds: UInt64?, _ words: String) -> String? {
      nanoseconds.map { "a small program \(words), and was stopped for \(Decimal.duration(Double($0) / 1e9))" }
    }
    switch feature {
    case .record: return recorded(facts.trials.record.value)
    case .light: return recorded(facts.trials.light.value)
    case .snapshot where facts.target != nil:
      guard case .runs(let path, _)? = facts.target?.recording else { return nil }
      return "the process is being recorded to \(PlainText.escaped(path))"
    case .snapshot: return facts.trials.snapshot.value.map { _ in "a small program took a heap image on request" }
    case .attach where facts.target == nil: return pause(facts.trials.attach.value, "was joined")
    case .inspect where facts.target == nil: return pause(facts.trials.inspect.value, "was copied")
    case .attach, .inspect:
      return facts.trials.read.value.map {
        "\(Decimal.counted(UInt64($0), "byte")) of its memory were read, and it was traced without being stopped"
      }
    case .watch: return "inspects the process again and again"
    case .coreFiles: return facts.machine.cores.isTakenByProgram ? "\(facts.machine.cores.taker) takes the cores" : nil
    case .fieldNames: return facts.installation.mirror.value.map { "\(PlainText.escaped($0)) was loaded" }
    case .sourceLines:
      return (facts.target?.checkedFiles).map {
        "\(Decimal.counted(UInt64($0), "file")) of the program \($0 == 1 ? "has" : "have") debug information"
      }
    }
  }

  // MARK: Facts

  private var factLines: [String] {
    let machine = facts.machine
    var system = ["Linux \(machine.kernel)", machine.processor]
    if let minor = machine.cLibrary { system.append("glibc 2.\(minor)") }
    system.append(machine.isRoot ? "as root" : "as user \(machine.userID)")
    switch machine.container {
    case .none: break
    case .other: system.append("in a container")
    default: system.append("in a container of \(machine.container.rawValue.capitalizedFirst)")
    }
    if machine.filter != .none { system.append("with a filter of system calls (seccomp)") }
    var lines = [system.joined(separator: ", ")]
    if let target = facts.target { lines.append(line(target)) }
    return lines
  }

  private func line(_ target: TargetFacts) -> String {
    var parts = ["process \(target.processID): \(PlainText.escaped(target.program ?? "a program that is not shown"))"]
    if target.userIDs.count > 1 { parts.append("user \(target.userIDs[1])") }
    if let number = target.ownNumber { parts.append("process \(number) in its container") }
    if target.hasSwift {
      parts.append(target.swiftVersion == .unknown ? "with Swift" : "Swift \(target.swiftVersion.rawValue)")
    }
    if let minor = target.cLibrary { parts.append("glibc 2.\(minor)") }
    switch target.allocator {
    case .glibc: parts.append("glibc's allocator")
    case .library(let name): parts.append("allocator \(PlainText.escaped(name))")
    case .inside: parts.append("an allocator inside its program")
    case .unknown: break
    }
    if let sanitizer = target.sanitizer { parts.append("sanitizer \(PlainText.escaped(sanitizer))") }
    if target.filter != .none { parts.append("a filter of system calls (seccomp)") }
    return parts.joined(separator: ", ")
  }

  private var remarks: [String] {
    var remarks: [String] = []
    let machine = facts.machine
    if machine.hidesProcesses {
      remarks.append("/proc hides the processes of other users (hidepid). Root sees all of them")
    }
    if facts.target?.wasStartedWithMoreRights == true {
      remarks.append("the process was started with more rights than its user's: the loader ignores LD_PRELOAD there")
    }
    if machine.namesDebuginfod {
      remarks.append(
        "leaktrace does not ask the servers of DEBUGINFOD_URLS. Fetch a file with 'debuginfod-find debuginfo PROGRAM', and put it into a directory for --debug-path"
      )
    }
    return remarks
  }

  // MARK: JSON

  package func json() -> String {
    let machine = facts.machine
    return JSONValue.object([
      ("schema", .string("leaktrace.features")),
      ("schemaVersion", .number(Self.schemaVersion)),
      ("allWork", .bool(allWork)),
      ("features", .array(verdicts.map(json))),
      (
        "system",
        .object([
          ("kernel", .string(machine.kernel)), ("processor", .string(machine.processor)),
          ("glibc", .optional(machine.cLibrary.map { "2.\($0)" })), ("userID", .number(UInt64(machine.userID))),
          ("container", .string(machine.container.rawValue)), ("isFiltered", .bool(machine.filter != .none)),
          ("ptraceScope", .optional(machine.ptraceScope.map { UInt64($0) })),
          ("hidesProcesses", .bool(machine.hidesProcesses)), ("corePattern", .string(machine.cores.pattern)),
          ("traceDirectory", .string(facts.installation.output.path)),
          ("freeBytes", .optional(facts.installation.output.freeBytes)),
          ("recorder", .optional(facts.installation.recorder.value)),
          ("remoteMirror", .optional(facts.installation.mirror.value)),
        ])
      ),
      ("process", facts.target.map(json) ?? .null),
      ("remarks", .array(remarks.map { .string($0) })),
    ]).text + "\n"
  }

  private func json(_ verdict: FeatureVerdict) -> JSONValue {
    let standing =
      switch verdict.standing {
      case .works: "works"
      case .conditional: "conditional"
      case .fails: "fails"
      }
    return .object([
      ("feature", .string(verdict.feature.rawValue)), ("standing", .string(standing)),
      ("explanation", .string(sentence(of: verdict))), ("remedy", .optional(remedyText(of: verdict))),
    ])
  }

  private func json(_ target: TargetFacts) -> JSONValue {
    var tracePath: String?
    if case .runs(let path, _) = target.recording { tracePath = path }
    return .object([
      ("processID", .integer(Int64(target.processID))), ("program", .optional(target.program)),
      ("userID", .optional(target.userIDs.dropFirst().first.map { UInt64($0) })),
      ("ownNumber", target.ownNumber.map { .integer(Int64($0)) } ?? .null),
      ("hasSwift", .bool(target.hasSwift)),
      ("swift", .optional(target.swiftVersion == .unknown ? nil : target.swiftVersion.rawValue)),
      ("glibc", .optional(target.cLibrary.map { "2.\($0)" })), ("isFiltered", .bool(target.filter != .none)),
      ("sanitizer", .optional(target.sanitizer)), ("recordedTo", .optional(tracePath)),
    ])
  }
}

extension String {
  fileprivate func padding(to columns: Int) -> String { self + String(repeating: " ", count: max(0, columns - count)) }
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
