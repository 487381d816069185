// Invented findings for tests of formats.

import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

enum ExampleFindings {
  static func frame(_ function: String, _ file: String? = nil, _ line: Int? = nil, kind: SourceFrame.Kind = .user)
    -> SourceFrame
  {
    SourceFrame(
      function: function, fullFunction: "App." + function, mangledName: "$s", imagePath: "/bin/app", file: file,
      line: line, column: nil, isInlined: false,
      kind: kind, isAsync: false, asyncPart: nil)
  }

  static func reference(_ name: String, capture: Bool = false, closure: SourceFrame? = nil, capturesSelf: Bool = false)
    -> Finding.Reference
  {
    Finding.Reference(
      name: name, strength: .strong, isClosure: closure != nil, isCapture: capture, capturesSelf: capturesSelf,
      closure: closure, caseName: nil)
  }

  static func step(
    _ type: String, _ kind: NodeKind = .object, function: SourceFrame? = nil, allocation: SourceFrame? = nil,
    reference: Finding.Reference? = nil
  ) -> Finding.Step {
    Finding.Step(
      kind: kind, type: type, qualifiedType: "App.\(type)", function: function, allocation: allocation,
      stack: StackID(0),
      address: RuntimeAddress(0x1000), size: ByteCount(48), reference: reference)
  }

  static func finding(
    _ evidence: Finding.Evidence, _ path: [Finding.Step], fingerprint: String = "00112233445566aa"
  ) -> Finding {
    Finding(
      evidence: evidence, instances: 3, retainedBytes: ByteCount(1536), retainedBlocks: 6, path: path,
      fingerprint: fingerprint)
  }

  /// A view model and its closure, which captures the view model in `/src/Sources/App/ViewModel.swift`.
  static func cycle(_ type: String = "ViewModel", fingerprint: String = "00112233445566aa") -> Finding {
    var finding = finding(
      .unreachable(.cycle, way: nil),
      [
        step(
          type, allocation: frame("main", "/src/Sources/App/main.swift", 3),
          reference: reference("onChange", closure: nil)),
        step(
          "closure", .closure, function: frame("closure #1 in \(type).start()", "/src/Sources/App/ViewModel.swift", 12),
          allocation: frame("\(type).start()", "/src/Sources/App/ViewModel.swift", 11),
          reference: reference("self", capture: true)),
      ], fingerprint: fingerprint)
    finding.advice = [.sentence("Capture self weakly in the closure at ViewModel.swift:12.")]
    return finding
  }

  static func lost() -> Finding {
    finding(
      .unreachable(.lost(nil), way: nil),
      [step("Buffer", allocation: frame("fill()", "/src/Sources/App/Fill.swift", 7))],
      fingerprint: "0000000000000b0b")
  }

  static func moment(_ operation: String, _ frames: [SourceFrame], userFrame: Int?) -> Finding.Moment {
    Finding.Moment(
      operation: operation, stack: StackID(0), frames: frames, userFrame: userFrame, seconds: 1.5, thread: 4711)
  }

  /// An object that was used after its end. A library's function that the program called had freed it.
  static func usedAfterEnd() -> Finding {
    finding(.dangling(ending()), [step("Connection", allocation: frame("connect()", "/src/Sources/App/Net.swift", 4))])
  }

  static func ending() -> Finding.Ending {
    let library = frame("swift_release", "/usr/lib/x.cpp", 9, kind: .systemLibrary)
    return Finding.Ending(
      type: "Connection", qualifiedType: "App.Connection",
      allocated: moment("swift_allocObject", [frame("connect()", "/src/Sources/App/Net.swift", 4)], userFrame: 0),
      freed: moment("swift_release", [library, frame("close()", "/src/Sources/App/Net.swift", 8)], userFrame: 1),
      used: moment("swift_retain", [frame("onData()", "/src/Sources/App/Net.swift", 15)], userFrame: 0), uses: 1)
  }

  static func outlived() -> Finding {
    finding(
      .suspected(.init(kind: .outlived, figures: nil), survivors()),
      [
        step("Store", allocation: frame("main", "/src/Sources/App/main.swift", 2), reference: reference("sessions")),
        step("Session", allocation: frame("handle()", "/src/Sources/App/Server.swift", 20)),
      ])
  }

  static func survivors() -> Finding.Survivors {
    Finding.Survivors(
      retention: .init(
        origin: PathOrigin(kind: .global, name: "static Store.shared in App"), holder: "Store.sessions",
        registration: nil, suspect: 1, ages: .init(youngest: 2, oldest: 60)),
      siblings: .init(
        births: 1000, deaths: 997, scope: frame("serve()", "/src/Sources/App/Server.swift", 5), scopeShare: 99,
        lifetime: 0.01),
      quarters: [1, 1, 2, 3])
  }

  // MARK: Hostile names

  private static let pieces = [
    "Array<Int>", "a|b", "`code`", "]]>", "<!--", "</details>", "</pre>", "&amp;", "%0A", "::error file=x::", ",line=3",
    "\u{1}", "\u{0}", "\r\n", "\n::set-output::", "\t", "\u{1B}[31m",
    "@MainActor", "#1", "[x](1)", "{0}", "\"quoted\"", "'", "\\", "\u{FFFE}", "\u{FFFF}", "\u{202E}", "é", "🐟", "$x$",
    "---", "://", " ", "%", "\u{7F}", "\u{85}", "\u{2028}", "\u{10FFFF}", "",
  ]

  static func hostileName(_ random: inout SeededRandom) -> String {
    (0...Int(random.next() % 5)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
  }

  /// Makes findings of every verdict and standing, with such names everywhere.
  static func hostile(_ count: Int, seed: UInt64) -> [JudgedFinding] {
    var random = SeededRandom(seed: seed)
    func name() -> String { hostileName(&random) }
    func anyFrame() -> SourceFrame {
      let files = ["/src/Sources/App/main.swift", "/src/we ird/ü%#?.swift", "/elsewhere/\(name())", name()]
      return frame(
        name(), files[Int(random.next() % 4)], Int(random.next() % 50), kind: random.oneIn(4) ? .systemLibrary : .user)
    }
    return (0..<count).map { index in
      let path = (0..<1 + Int(random.next() % 5)).map { _ in
        step(
          name(), [.object, .closure, .malloc, .task, .array, .box][Int(random.next() % 6)],
          function: random.oneIn(2) ? anyFrame() : nil,
          allocation: random.oneIn(3) ? nil : anyFrame(),
          reference: random.oneIn(4)
            ? nil
            : reference(
              name(), capture: random.oneIn(2), closure: random.oneIn(2) ? anyFrame() : nil,
              capturesSelf: random.oneIn(2)))
      }
      let verdict = Verdict.allCases[index % Verdict.allCases.count]
      var finding = finding(hostileEvidence(verdict, path, &random), path, fingerprint: "\(index)")
      finding.instances = Int(random.next() % 1000)
      finding.retainedBytes = ByteCount(random.oneIn(5) ? .max : random.next() % 100_000)
      finding.advice = random.oneIn(2) ? [] : [.sentence(name()), .sentence(name())]
      finding.held.types = random.oneIn(2) ? [] : [Finding.HeldType(name: name(), count: 2, bytes: ByteCount(64))]
      let standings: [JudgedFinding.Standing] = [
        .new, .worse(name()), .known(reason: name()), .known(reason: ""), .hidden(pattern: name()), .library,
      ]
      let standing = standings[Int(random.next() % 6)]
      if standing == .library { finding.owner = .library(reason: name()) }
      return JudgedFinding(finding, standing)
    }
  }

  private static func hostileEvidence(_ verdict: Verdict, _ path: [Finding.Step], _ random: inout SeededRandom)
    -> Finding.Evidence
  {
    var survivors = survivors()
    survivors.retention.holder = hostileName(&random)
    survivors.retention.suspect = Int(random.next() % UInt64(path.count))
    switch verdict {
    case .retainCycle: return .unreachable(.cycle, way: nil)
    case .lost: return .unreachable(.lost(nil), way: nil)
    case .suspended: return .unreachable(.suspended(random.oneIn(2) ? .inCycle : .alone(nil)), way: nil)
    case .deinitialised: return .deinitialised(nil)
    case .dangling:
      guard random.oneIn(2) else { return .dangling(nil) }
      var ending = ending()
      ending.type = hostileName(&random)
      if random.oneIn(2) { ending.used = nil }
      return .dangling(ending)
    case .outlived: return .suspected(.init(kind: .outlived, figures: nil), survivors)
    case .accumulating: return .suspected(.init(kind: .accumulating, figures: nil), survivors)
    case .growing:
      let place = MarkPlace(name: hostileName(&random), file: hostileName(&random), line: 1)
      return .repeated(
        .init(place: place, first: 2, measure: .objects, counts: [1, 2]), survivors.retention, survivors.siblings)
    }
  }
}

/// Source files that exist in a test alone.
struct TableSources: SourceAccess {
  /// Lines by path.
  var files: [String: Int]
  /// Where symbolic links lead.
  var links: [String: String] = [:]

  static let example = TableSources(files: [
    "/src/Sources/App/main.swift": 30, "/src/Sources/App/ViewModel.swift": 40, "/src/Sources/App/Net.swift": 20,
    "/src/Sources/App/Server.swift": 20,
    "/src/we ird/ü%#?.swift": 30, "/src/.build/checkouts/nio/Channel.swift": 500, "/other/Sources/App/Fill.swift": 100,
  ])

  func resolvedPath(_ path: String) -> String? {
    var path = path
    for (link, target) in links where path == link || path.hasPrefix(link + "/") {
      path = target + path.dropFirst(link.count)
    }
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    let resolved = "/" + parts.joined(separator: "/")
    return files.keys.contains { $0 == resolved || $0.hasPrefix(resolved == "/" ? "/" : resolved + "/") }
      ? resolved : nil
  }

  func lineCount(ofFile path: String) -> Int? { files[path] }
}

extension SourceTree {
  static let example = SourceTree(root: "/src", access: TableSources.example)
}
