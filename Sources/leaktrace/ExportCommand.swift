// `leaktrace export`: writes a trace's contents to files that other tools open.

import ArgumentParser
import Glibc
import TraceAnalysis

/// A file format of another tool.
enum ExportFormat: String, CaseIterable, ChosenWord {
  case pprof, collapsed, speedscope, dot, heapsnapshot, perfetto, sqlite, ndjson

  /// True if the file is binary.
  var isBinary: Bool { self == .pprof || self == .perfetto || self == .sqlite }
  /// True if the file has a single figure for each stack.
  var hasOneMeasure: Bool { self == .collapsed }
  /// True if the file has the blocks and references of a heap image.
  var isHeap: Bool { self == .heapsnapshot || self == .perfetto }
  /// True if the file has allocations by stack.
  var isProfile: Bool { self == .pprof || self == .collapsed || self == .speedscope }
}

struct ExportCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a trace's profile or findings to a file that other tools open.",
    discussion: """
      pprof       gzipped profile.proto: 'go tool pprof -http=: FILE', Pyroscope, Parca
      collapsed   a line for each stack with one figure: flamegraph.pl, inferno, speedscope
      speedscope  a profile for each figure, for speedscope.app
      dot         the findings as graphs: 'dot -Tsvg FILE', or one of them with --finding
      heapsnapshot  blocks and references of the heap image, for the Memory panel of Chrome's DevTools
      perfetto    the same blocks and references, for Perfetto's trace processor and ui.perfetto.dev
      sqlite      all of it as tables: 'sqlite3 FILE', Python's sqlite3; 'leaktrace query' asks without a file
      ndjson      totals, types, sites and findings as rows for a database of many runs: see docs/fleet.md; \
                  takes a digest ('leaktrace digest') too

      Exit status: 0 success, 2 no match, 3 the trace is unreadable, or has no heap image and dot, heapsnapshot, perfetto or a leaked value was asked for, \
      4 success, but the trace is damaged or incomplete, 5 the file could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp("A trace, or a directory with a single one; for ndjson also a digest.", valueName: "trace"),
    completion: .file())
  var trace: String

  @Option(help: "File format.")
  var format: ExportFormat

  @Option(
    name: [.short, .long], help: ArgumentHelp("File to write (default: standard output).", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Figure for each stack; repeatable, and collapsed takes one (default: live-bytes for collapsed, else all).",
      valueName: "figure"))
  var value: [ProfileMeasure] = []

  @Option(
    help: ArgumentHelp("Only export the finding with this fingerprint, or the start of one.", valueName: "fingerprint"))
  var finding: String?

  @Option(help: ArgumentHelp("Name of the machine in each row (ndjson).", valueName: "name"))
  var host: String?

  @Option(
    help: ArgumentHelp("Name of the build in each row (ndjson; default: the program's build ID).", valueName: "name"))
  var build: String?

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp(
      "Name of the run in each row (ndjson; default: the time of its start, and the process).", valueName: "name"))
  var runName: String?

  @Flag(help: "Also write every reference between the blocks of the heap image (sqlite).")
  var heapReferences = false

  @OptionGroup var image: SearchedImageOption

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  func validate() throws {
    if format.hasOneMeasure, value.count > 1 {
      throw ValidationError("\(format.rawValue) has one figure for each stack; give --value once.")
    }
    if format == .pprof, !value.isEmpty {
      throw ValidationError("A pprof file has all figures; choose there with -sample_index.")
    }
    if !format.isProfile, !value.isEmpty { throw ValidationError("--value is for profiles.") }
    if finding != nil, format != .dot { throw ValidationError("--finding is for --format dot.") }
    if heapReferences, format != .sqlite { throw ValidationError("--heap-references is for --format sqlite.") }
    if format != .ndjson, [host, build, runName].contains(where: { $0 != nil }) {
      throw ValidationError("--host, --build and --run are for --format ndjson.")
    }
    if format.isBinary, output == nil, isatty(1) == 1 {
      throw ValidationError("A \(format.rawValue) file is no text for a terminal; give -o FILE.")
    }
    if let output, ReportOutputs.place(output) == ReportOutputs.place(trace) {
      throw ValidationError("The file would overwrite the trace itself.")
    }
  }

  func run() throws {
    let path = try TraceListing.onlyTrace(at: trace)
    let search = try LeakSearch(self, snapshot: image.snapshot)
    do {
      let status: ExitStatus
      if format == .sqlite, let output, OutputFile.isReplaced(output) {
        status = try TraceDatabaseSource(search, heapReferences: heapReferences).write(path, to: output)
      } else {
        let bytes: [UInt8]
        (bytes, status) = try export(path, search)
        try write(bytes)
      }
      if status != .success { throw status.code }
    } catch let error as TraceFormatError {
      complain(explanation(of: error, path: path))
      throw ExitStatus.unreadable.code
    }
  }

  private func export(_ path: String, _ search: LeakSearch) throws -> (bytes: [UInt8], status: ExitStatus) {
    if format == .sqlite {
      let (database, status) = try TraceDatabaseSource(search, heapReferences: heapReferences).open(path)
      do throws(DatabaseError) {
        return (try database.file(), status)
      } catch {
        throw TraceDatabaseSource.failure(error)
      }
    }
    if format.isHeap { return try heap(path, search) }
    if format == .ndjson { return try rows(path, search) }
    // A file with allocations alone does not need the heap analysis.
    let needsLeaks = value.isEmpty ? !format.hasOneMeasure : value.contains(where: \.isOfLeaks)
    let examined = try search.examine(path, needsLeaks ? .findings : .allocations)
    if let reason = examined.leaks.unavailable, format == .dot || value.contains(where: \.isOfLeaks) {
      complain(reason)
      throw ExitStatus.unreadable.code
    }
    if format == .dot {
      let findings = try chosen(examined.leaks.findings, in: path)
      return (Array(FindingGraph.dot(findings).utf8), examined.status)
    }
    let profile = StackProfile(
      examined.trace.analysis, path: path, leaked: examined.leaks.leaked,
      frameLimit: examined.reader.limits.namedFrames,
      naming: search.naming(examined.trace))
    if needsLeaks, examined.leaks.leaked == nil, examined.leaks.unavailable == nil {
      examined.leaks.remarks.forEach(complain)
    }
    return (try contents(profile), examined.status)
  }

  private func heap(_ path: String, _ search: LeakSearch) throws -> (bytes: [UInt8], status: ExitStatus) {
    let examined = try search.examine(path, keepsHeap: .always)
    guard let heap = examined.heap else {
      complain(examined.leaks.unavailable ?? "the trace has no heap image.")
      throw ExitStatus.unreadable.code
    }
    let trace = examined.trace.analysis
    return (
      format == .perfetto ? PerfettoTrace.bytes(heap.graph, trace) : HeapSnapshotFile.bytes(heap.graph, trace),
      examined.status
    )
  }

  /// Returns the rows of a trace or of a digest.
  private func rows(_ path: String, _ search: LeakSearch) throws -> (bytes: [UInt8], status: ExitStatus) {
    var runs = RunDigests(search)
    let digest = try runs.digest(ofRun: path)
    guard let origin = FleetRows.Origin(digest, host: host, build: build, run: runName) else {
      complain("\(path) does not say which run it is of: an earlier leaktrace wrote it. Name the run with --run.")
      throw ExitStatus.usage.code
    }
    return (Array(FleetRows.text(digest, origin).utf8), runs.status)
  }

  private func contents(_ profile: StackProfile) throws -> [UInt8] {
    let measures = profile.measures.filter { value.isEmpty || value.contains($0) }
    if let missing = value.first(where: { !measures.contains($0) }) {
      complain("the trace does not have \(missing.rawValue).")
      throw ExitStatus.notFound.code
    }
    switch format {
    case .pprof:
      guard let file = PprofProfile.file(profile) else {
        complain("there is not enough memory to compress the profile.")
        throw ExitStatus.outputFailed.code
      }
      return file
    case .collapsed: return Array(CollapsedStacks.text(profile, value.first ?? .liveBytes).utf8)
    case .speedscope:
      return Array(
        SpeedscopeProfile.text(profile, measures, exporter: "leaktrace \(leaktraceVersion)").utf8)
    case .dot, .heapsnapshot, .perfetto, .sqlite, .ndjson: preconditionFailure("not a profile")
    }
  }

  /// Returns the requested findings.
  private func chosen(_ findings: [Finding], in path: String) throws -> [Finding] {
    let shown = findings.filter { $0.suppression == nil && !$0.isWeak }
    guard let finding else { return shown }
    let chosen = findings.filter { $0.fingerprint.hasPrefix(finding) }
    guard chosen.count == 1 else {
      complain(
        "\(chosen.isEmpty ? "no finding" : "more than one finding") has a fingerprint that begins with '\(finding)'."
          + " 'leaktrace analyze \(path) --format json' lists them.")
      throw ExitStatus.notFound.code
    }
    return chosen
  }

  private func write(_ bytes: [UInt8]) throws { try ObjectQuestion.write(bytes, to: output, called: "the export") }
}

extension ProfileMeasure: ChosenWord {}
