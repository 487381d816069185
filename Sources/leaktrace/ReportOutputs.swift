// The formats of a report, and where it is written.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

enum ReportFormat: String, CaseIterable, ChosenWord {
  case text, json, html, markdown, github, sarif, junit, codequality, compiler
  case briefJSON = "brief-json"
}

/// A report that is written to a file: `FORMAT=PATH`.
struct ReportFile: ExpressibleByArgument {
  var format: ReportFormat
  var path: String

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[1].isEmpty else { return nil }
    guard let format = ReportFormat(rawValue: parts[0]) else {
      let formats = NearestWords.nearest(to: parts[0], among: ReportFormat.allCases.map(\.rawValue))
      RejectedWord.note(nearest: formats.map { "\($0)=\(parts[1])" })
      return nil
    }
    (self.format, path) = (format, parts[1])
  }
}

/// Options for the formats and destinations of a report.
struct ReportOutputs: ParsableArguments {
  @Option(
    help:
      "Report format; 'html' is a page for a browser, 'github' is for workflow annotations, 'codequality' is for GitLab, 'compiler' has lines that editors can jump to, 'brief-json' is a short answer for agents."
  )
  var format: ReportFormat = .text

  @Option(
    help: ArgumentHelp("Also write the report to a file in this format. Repeatable.", valueName: "format=path"),
    completion: .reportFile)
  var write: [ReportFile] = []

  @Option(
    help: ArgumentHelp(
      "Directory that source paths are relative to in sarif, junit, github, codequality, compiler and markdown (default: top of the Git working tree).",
      valueName: "directory"), completion: .directory)
  var sourceRoot: String?

  @Option(help: AnswerSize.help)
  var briefSize = AnswerSize()

  @Option(
    help: ArgumentHelp(
      "With brief-json: position in the list of findings, from an earlier answer.", valueName: "cursor"))
  var briefCursor: String?

  @Option(
    help: ArgumentHelp(
      "With brief-json: explain the finding with this fingerprint, or its beginning.", valueName: "fingerprint"))
  var briefFinding: String?

  func validate() throws {
    if let sourceRoot, !FileManager.default.fileExists(atPath: sourceRoot) {
      throw ValidationError("There is no directory \(sourceRoot).")
    }
  }

  /// Throws if a file would be written twice, or if an input file would be overwritten. `others`: other files that the
  /// command reads or writes.
  func validate(besides others: [String?]) throws {
    var places = Set(others.compactMap { $0 }.map(Self.place))
    for file in write where !file.path.hasPrefix("/dev/") {
      if !places.insert(Self.place(file.path)).inserted {
        throw ValidationError("\(file.path) is named more than once; one report would overwrite another.")
      }
    }
  }

  /// Returns the file that a path refers to.
  static func place(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }

  /// True if this format is requested, for standard output or a file.
  func has(_ format: ReportFormat) -> Bool { self.format == format || write.contains { $0.format == format } }

  /// Returns the detail that the requested formats need. `fullStacks`: whether full stacks were requested.
  func detail(fullStacks: Bool) -> LeakSearch.Detail {
    has(.html) ? .page : fullStacks || has(.json) ? .findingsWithStacks : .findings
  }

  /// Returns a short answer about findings. `traces`: the traces that they come from.
  func brief(_ document: FindingDocument, _ traces: [BriefReport.Trace]) -> String {
    let report = BriefReport(document, traces: traces, size: briefSize.bytes)
    let answer = briefFinding.map(report.finding) ?? report.findings(cursor: briefCursor)
    return answer.compactText + "\n"
  }

  var sourceTree: SourceTree { SourceTree(root: sourceRoot ?? Self.workingTree(), access: LocalSources()) }

  /// Returns the nearest directory with a `.git`, from the current directory upwards; the current directory if there is
  /// none.
  private static func workingTree() -> String {
    let current = FileManager.default.currentDirectoryPath
    var directory = current
    while true {
      if FileManager.default.fileExists(atPath: directory == "/" ? "/.git" : directory + "/.git") { return directory }
      guard directory != "/", let slash = directory.lastIndex(of: "/") else { return current }
      directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
    }
  }
}

extension ReportOutputs {
  /// Writes a report in all requested formats to all destinations. `style`: the style of standard output. `file`: the
  /// file that replaces standard output; nil for none. Lines in files have at most 100 columns.
  func deliver(style: TextStyle, to file: String? = nil, _ render: (ReportFormat, TextStyle) -> String) throws {
    if file == nil { try ObjectQuestion.show(render(format, style), called: "the report") }
    try Self.write(write + (file.map { [ReportFile(format, $0)] } ?? [])) { render($0, TextStyle(width: 100)) }
  }

  /// Writes files. Renders each format once. Tries all files before it throws.
  fileprivate static func write(_ files: [ReportFile], _ contents: (ReportFormat) -> String) throws {
    var rendered: [ReportFormat: String] = [:]
    var hasFailed = false
    for file in files {
      let text = rendered[file.format] ?? contents(file.format)
      rendered[file.format] = text
      do throws(OutputFile.Failure) {
        try OutputFile.write(text, to: file.path)
      } catch {
        complain("cannot write \(file.path): \(String(cString: strerror(error.errno)))")
        hasFailed = true
      }
    }
    if hasFailed { throw ExitStatus.outputFailed.code }
  }
}

/// Collects the contents of reports, and writes them at the end. Text for standard output is written immediately.
struct ReportWriter {
  private let outputs: ReportOutputs
  private let style: TextStyle
  private let destination: Destination
  private let output = OutputBuffer()
  private var fileText = ""
  private var reports: [AllocationReport] = []
  private var leaks: [LeakReport?] = []
  private var growth: [ProcessGrowth?] = []
  private var page = ReportPage(toolVersion: leaktraceVersion)

  /// Where the report in the format of `--format` goes.
  enum Destination {
    case standardOutput
    case file(String)
  }

  init(_ outputs: ReportOutputs, style: TextStyle, destination: Destination = .standardOutput) {
    (self.outputs, self.style, self.destination) = (outputs, style, destination)
  }

  /// True if the reader of standard output has closed it, and there are no other outputs.
  var isClosed: Bool { output.isClosed && outputs.write.isEmpty }

  /// Adds text for people. `render`: renders the text in a given style.
  mutating func text(_ render: (TextStyle) -> String) throws {
    if outputs.format == .text, case .standardOutput = destination { try put(render(style)) }
    if needsFileText { fileText += render(Self.fileStyle) }
  }

  private static let fileStyle = TextStyle(width: 100)

  private var needsFileText: Bool {
    if outputs.format == .text, case .file = destination { return true }
    return outputs.write.contains { $0.format == .text }
  }

  var needsJSON: Bool { outputs.has(.json) || outputs.has(.briefJSON) }

  /// Adds a report for JSON; evaluates and keeps it only if JSON is requested.
  mutating func add(
    _ report: @autoclosure () -> AllocationReport, leaks: LeakReport?, growth: ProcessGrowth? = nil
  ) {
    guard needsJSON else { return }
    self.growth.append(growth)
    reports.append(report())
    self.leaks.append(leaks)
  }

  var needsPage: Bool { outputs.has(.html) }

  /// Adds a process to the page; evaluates it only if a page is requested.
  mutating func add(_ process: @autoclosure () -> ProcessPage) {
    if needsPage { page.add(process()) }
  }

  /// Sets the growth that the page shows.
  mutating func set(_ growth: ProcessGrowth) {
    if needsPage { page.set(growth.process, growth.growth) }
  }

  /// Writes all requested outputs. `program`: the program's name in the documents. `remarks`: sentences with facts that
  /// a reader must know. `unjudged`: the reason why leaks could not be judged.
  mutating func finish(
    program: String, judged: [JudgedFinding], gates: GateReport, remarks: [String], unjudged: String? = nil
  ) throws {
    try text { GateText.text(gates, style: $0) }
    let document = FindingDocument(
      program: program, judged: judged, gates: gates.outcomes, source: outputs.sourceTree,
      toolVersion: leaktraceVersion,
      remarks: remarks + gates.remarks, unjudged: unjudged)
    let (fileText, reports, leaks, growth) = (fileText, reports, leaks, growth)
    let html = needsPage ? page.html(title: program.isEmpty ? nil : program) : ""
    func contents(_ format: ReportFormat) -> String {
      switch format {
      case .text: fileText
      case .json: AllocationJSON.text(reports, leaks: leaks, growth: growth, gates: gates)
      case .html: html
      case .markdown: document.markdown()
      case .github: document.annotations()
      case .sarif: document.sarif()
      case .junit: document.junit()
      case .codequality: document.codeQuality()
      case .compiler: document.compilerLines()
      case .briefJSON:
        outputs.brief(
          document,
          zip(reports, leaks).compactMap { report, leaks in
            leaks.map { BriefReport.Trace(path: report.traces.first?.path ?? "", leaks: $0) }
          })
      }
    }
    var files = outputs.write
    switch destination {
    case .standardOutput:
      if outputs.format != .text { try put(contents(outputs.format)) }
      do { try output.flush() } catch { try fail(error) }
    case .file(let path): files.append(ReportFile(outputs.format, path))
    }
    try ReportOutputs.write(files, contents)
  }

  private func put(_ text: String) throws {
    do { try output.write(text) } catch { try fail(error) }
  }

  private func fail(_ error: any Error) throws -> Never {
    if case OutputBuffer.Failure.write(let code) = error {
      complain("cannot write the report: \(String(cString: strerror(code)))")
    }
    throw ExitStatus.outputFailed.code
  }
}

extension ReportFile {
  init(_ format: ReportFormat, _ path: String) { (self.format, self.path) = (format, path) }
}
