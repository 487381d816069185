// Combines the examined heap images of one process into a series.

import TraceAnalysis

/// The results of several images of one process. Keeps only the figures of each image. Not thread-safe.
struct ExaminedSeries {
  private(set) var images = ImageSeries()
  /// Suspicions at the image that was added last.
  private(set) var suspects: [Finding] = []
  private(set) var process = WatchedProcess(program: "", processID: 0)

  /// Maximum number of a trace's images to compare. Each image costs one more pass over everything that was written
  /// before it. `GrowthRules` divides the curve into at most 12 parts, and each should have two images.
  static let imageLimit = 24

  enum Outcome {
    /// The image was added. The report has the series' suspicions among its findings.
    case added(LeakReport)
    /// The image was not added: it is not later than the previous one.
    case isOld
    case isUnusable(reason: String)
  }

  /// Adds an examined image whose heap analysis was kept.
  mutating func add(_ examined: ExaminedTrace) -> Outcome {
    guard let heap = examined.heap, examined.leaks.unavailable == nil else {
      return .isUnusable(reason: examined.leaks.unavailable ?? "it is damaged")
    }
    let analysis = examined.trace.analysis
    let time = analysis.clock.seconds(at: heap.model.snapshot.time) ?? Double(images.taken)
    if let last = images.moments.last, last.time >= time { return .isOld }
    if process.program.isEmpty || process.processID == 0 {
      process.program = examined.trace.program
      process.processID = analysis.header.processID
    }
    let census = heap.census()
    let moment = ImageMoment(
      time: time, realtime: ImageMoment.realtime(start: analysis.header.startRealtime, seconds: time),
      resident: analysis.memorySamples.last { $0.time <= heap.model.snapshot.time }?.residentOfProgram
        ?? analysis.memorySamples.first?.residentOfProgram,
      live: census.census.bytes, blocks: census.census.objects)
    var leaks = examined.leaks
    images.add(moment, census, findings: leaks.findings)
    suspects = heap.findings(of: images.growth(), census)
    leaks.add(suspects, of: heap)
    return .added(leaks)
  }

  mutating func note(_ remark: String) { process.remarks.append(remark) }

  var growth: ProcessGrowth { ProcessGrowth(process: process, growth: images.growth()) }
}

extension LeakSearch {
  /// Examines the images before `newest` in a light recording, and adds the suspicions of growth to the findings of
  /// `newest`. The heap analysis of `newest` must have been kept. Returns nil if there is only one image, and for other
  /// recordings: a full recording shows when each block was made.
  ///
  /// O(images × size of the trace), for at most `ExaminedSeries.imageLimit` images.
  func growth(before newest: inout ExaminedTrace) throws(TraceFormatError) -> ProcessGrowth? {
    guard Self.hasSeries(newest.reader), let last = newest.heap?.model.snapshot else { return nil }
    let earlier = newest.reader.snapshots.filter { $0.isWhole && $0.time < last.time }
    guard !earlier.isEmpty else { return nil }
    // A program that exits may free its objects first, so the image at exit says nothing about growth.
    let isOfEnd = last.reason == .exit && earlier.count >= GrowthRules.standard.minImages
    var series = ExaminedSeries()
    var newestInSeries: LeakAnalysis?
    let chosen = Self.spread(earlier.sorted { $0.time < $1.time }, limit: ExaminedSeries.imageLimit - 1)
    if chosen.count < earlier.count {
      series.note("\(chosen.count + 1) of \(earlier.count + 1) images are compared, spread evenly over the time")
    }
    for image in chosen {
      var search = self
      search.snapshot = Int(image.number)
      let examined = try search.examine(newest.trace.path, .findings, keepsHeap: .always)
      switch series.add(examined) {
      case .added: if isOfEnd, image.number == chosen.last?.number { newestInSeries = examined.heap }
      case .isOld: break
      case .isUnusable(let reason): series.note("image \(image.number) is left out: \(reason)")
      }
    }
    if isOfEnd {
      series.note(
        "growth is judged by the images before the program's end, since an ending program releases its objects")
      if let heap = newestInSeries { newest.leaks.add(series.suspects, of: heap) }
    } else {
      switch series.add(newest) {
      case .added(let leaks): newest.leaks = leaks
      case .isOld: break
      case .isUnusable(let reason): series.note("image \(last.number) is left out: \(reason)")
      }
    }
    guard series.images.moments.count > 1 else { return nil }
    let growth = series.growth
    if newest.leaks.conclusion == .steady { newest.leaks.level = growth.growth.level }
    return growth
  }

  /// True if the trace's images can be compared.
  static func hasSeries(_ reader: TraceReader) -> Bool {
    reader.header.isLight && reader.snapshots.count(where: \.isWhole) > 1
  }

  /// Returns at most `limit` images, including the first and the last.
  private static func spread(_ images: [TraceSnapshot], limit: Int) -> [TraceSnapshot] {
    if images.count <= limit { return images }
    return (0..<limit).map { images[$0 * (images.count - 1) / (limit - 1)] }
  }
}
