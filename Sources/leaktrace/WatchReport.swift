// Combines the heap images of a watch, and writes its report.

import ArgumentParser
import Dispatch
import Glibc
import TraceAnalysis

/// Collects images one after another. Keeps only the figures of each image, and the findings of the newest. Not
/// thread-safe.
struct WatchReport {
  var process = WatchedProcess(program: "", processID: 0)
  private let command: WatchCommand
  private let search: LeakSearch
  private var gatekeeper: Gatekeeper
  private var series = ExaminedSeries()
  private var queues = ActorQueueSeries()
  /// The tasks of the newest image, if queues of actors only grow.
  private var growing: TaskInventory?
  /// The leaks in the newest image, with the suspicions of growth.
  private var leaks: LeakReport?
  private var status = ExitStatus.success
  /// Fingerprints of the suspicions that were already reported.
  private var printed: Set<String> = []
  /// Addresses of the actors whose queues were already reported.
  private var printedActors: Set<RuntimeAddress> = []
  private var failed = 0
  private var leftOut = 0
  private var newestPath = ""

  init(_ command: WatchCommand, _ search: LeakSearch, _ gatekeeper: Gatekeeper) {
    (self.command, self.search, self.gatekeeper) = (command, search, gatekeeper)
  }

  mutating func note(_ remark: String) {
    complain(remark)
    // Remarks may repeat; the latest ones are enough.
    if process.remarks.count >= Self.remarkLimit { process.remarks.removeFirst() }
    process.remarks.append(remark)
  }

  private static let remarkLimit = 20

  mutating func noteFailure(number: Int) { failed = number }

  /// Counts images that were due but not taken, because the previous image took longer than the interval.
  mutating func noteLeftOut(_ count: Int) {
    if leftOut == 0 {
      complain("an image takes longer than the interval: images that are due before it is done are skipped")
    }
    leftOut += count
  }

  // MARK: Images

  /// Adds the image of a trace that was just written, and prints a line about it.
  mutating func add(_ path: String, _ summary: InspectionSummary) throws {
    let begin = DispatchTime.now()
    let before = series.images.moments.last
    guard read(path, number: nil) else { return }
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
    guard let moment = series.images.moments.last else { return }
    var words = "image \(series.images.taken): \(summary.line(path: command.output == nil ? nil : path))"
    words += ", \(Decimal.bytes(moment.live)) live"
    if let before {
      let change = Int64(moment.live) - Int64(before.live)
      words += " (\(change < 0 ? "−" : "+")\(Decimal.bytes(change.magnitude)))"
    }
    words += "; trace \(Decimal.bytes(summary.traceSize)), read in \(Decimal.duration(seconds))"
    ErrorOutput.print(words)
    tellNewQueues()
    try tellNewSuspects()
  }

  /// Reads all images of one process from the traces in a directory.
  mutating func readTraces(in directory: String) throws {
    let (paths, listing) = TraceListing.all([directory])
    status = .worst(status, listing)
    var images: [(path: String, number: Int, time: Double, header: TraceHeader)] = []
    for path in paths {
      do {
        let reader = try TraceReader(path: path, policy: search.policy)
        for snapshot in reader.snapshots where snapshot.isWhole {
          let seconds = reader.clock.seconds(at: snapshot.time) ?? 0
          images.append((path, Int(snapshot.number), seconds, reader.header))
        }
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
    images.sort { ($0.time, $0.path, $0.number) < ($1.time, $1.path, $1.number) }
    if let first = images.first, let other = images.first(where: { !Self.areOfOneProcess($0.header, first.header) }) {
      complain(
        "\(first.path) and \(other.path) are of two processes, \(first.header.processID) and \(other.header.processID). Give --from the traces of one; 'leaktrace diff' compares two."
      )
      throw ExitStatus.usage.code
    }
    for image in images { _ = read(image.path, number: image.number) }
  }

  /// True if process IDs and start times are equal. The start times may differ by the error of two clock readings.
  private static func areOfOneProcess(_ a: TraceHeader, _ b: TraceHeader) -> Bool {
    let (first, second) = (a.startMonotonic, b.startMonotonic)
    return a.processID == b.processID && max(first, second) - min(first, second) < 50_000_000
  }

  /// Reads an image. Returns false if the trace has no usable image.
  private mutating func read(_ path: String, number: Int?) -> Bool {
    var search = search
    search.snapshot = number
    do {
      return add(try search.examine(path, command.outputs.detail(fullStacks: false), keepsHeap: .always), path)
    } catch {
      complain(explanation(of: error, path: path))
      status = .worst(status, .unreadable)
      return false
    }
  }

  private mutating func add(_ image: ExaminedTrace, _ path: String) -> Bool {
    status = .worst(status, image.status)
    switch series.add(image) {
    case .added(let found):
      leaks = found
      growing = image.heap.flatMap { queues.add($0) }
    case .isOld: return false
    case .isUnusable(let reason):
      complain("\(path) has no image that can be used: \(reason)")
      return false
    }
    if process.program.isEmpty || process.processID == 0 {
      process.program = series.process.program
      process.processID = series.process.processID
    }
    newestPath = path
    return true
  }

  /// Reports each queue that only grows once, when that is first known.
  private mutating func tellNewQueues() {
    for actor in growing?.actors ?? [] where printedActors.insert(actor.address).inserted {
      ErrorOutput.print("growing queue: \(TaskWords.queue(actor))")
    }
  }

  /// Reports each suspicion once, when it first appears.
  private mutating func tellNewSuspects() throws {
    var isNew = false
    for finding in leaks?.findings ?? [] where !finding.isWeak && !finding.isLibrary && finding.suppression == nil {
      guard case .images(_, let retention) = finding.evidence, printed.insert(finding.fingerprint).inserted else {
        continue
      }
      isNew = true
      ErrorOutput.print("new suspect: \(FindingTitle.subject(finding)), held by \(retention.holder)")
    }
    guard isNew else { return }
    if command.outputs.format == .text {
      try ObjectQuestion.show(
        SeriesText(style: command.style, limit: command.limit == 0 ? nil : command.limit).text(
          process, series.images.growth(), leaks: nil, queues: growing), called: "the report")
    }
  }

  // MARK: The report

  /// Judges the findings, and writes the report.
  mutating func finish() throws -> ExitStatus {
    if failed > 0 { process.remarks.append("\(Decimal.counted(UInt64(failed), "image")) could not be taken") }
    if leftOut > 0 {
      process.remarks.append(
        "\(Decimal.counted(UInt64(leftOut), "image")) left out, since the one before took longer than the interval")
    }
    guard var leaks else {
      if status == .success { complain("there is no image to report on") }
      return .worst(status, .unreadable)
    }
    gatekeeper.admit(&leaks)
    leaks.listsWeak = command.weak
    let (gates, outcome) = gatekeeper.close(
      status == .success ? .whole : .partial("part of the recording could not be read"), unjudged: nil)
    status = .worst(status, outcome)
    let growth = series.images.growth()
    let name = process.program.split(separator: "/").last.map(String.init) ?? process.program
    let document = FindingDocument(
      program: name, judged: gatekeeper.judged, gates: gates.outcomes, source: command.outputs.sourceTree,
      toolVersion: leaktraceVersion, remarks: process.remarks + leaks.remarks + gates.remarks)
    let html = command.outputs.has(.html) ? try page(leaks, growth) : ""
    try command.outputs.deliver(style: command.style) { [process, growing] format, style in
      switch format {
      case .text:
        SeriesText(style: style, limit: command.limit == 0 ? nil : command.limit).text(
          process, growth, leaks: leaks, queues: growing)
          + GateText.text(gates, style: style)
      case .json: SeriesJSON.text(process, growth, leaks: leaks, gates: gates, queues: growing)
      case .html: html
      case .markdown: document.markdown()
      case .github: document.annotations()
      case .sarif: document.sarif()
      case .junit: document.junit()
      case .codequality: document.codeQuality()
      case .compiler: document.compilerLines()
      case .briefJSON: command.outputs.brief(document, [])
      }
    }
    return status
  }

  /// Returns a page about the growth and the newest image.
  private func page(_ leaks: LeakReport, _ growth: SeriesGrowth) throws -> String {
    var examined = try search.examine(newestPath, .page)
    examined.leaks = leaks
    var page = ReportPage(toolVersion: leaktraceVersion)
    page.add(search.page(examined))
    page.set(process, growth)
    return page.html()
  }
}
