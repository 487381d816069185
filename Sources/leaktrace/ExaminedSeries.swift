// Combines the heap images of one process, one examined image after the other.

import TraceAnalysis

/// The results of several images of one process. Only the figures of each image are kept. For one thread.
struct ExaminedSeries {
  private(set) var images = ImageSeries()
  /// Suspicions of the image that was added last.
  private(set) var suspects: [Finding] = []
  private(set) var process = WatchedProcess(program: "", processID: 0)

  /// Limit of one trace's images that are compared: each one is read together with everything written before it. There
  /// are two for each part of the curve that growth is judged by.
  static let imageLimit = 24

  enum Outcome {
    /// Includes the suspicions among its findings.
    case added(LeakReport)
    /// The image is not later than the one before.
    case isOld
    case isUnusable(reason: String)
  }

  /// Adds an examined image whose analysis was kept.
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
  /// Examines the images of a light recording before `newest`, whose analysis must have been kept. Adds the suspicions
  /// to the findings of `newest`. Nil for other recordings, because a full recording shows when each block was made.
  /// Nil also if there is only one image.
  ///
  /// O(images · trace), for at most `ExaminedSeries.imageLimit` images.
  func growth(before newest: inout ExaminedTrace) throws(TraceFormatError) -> ProcessGrowth? {
    guard Self.hasSeries(newest.reader), let last = newest.heap?.model.snapshot else { return nil }
    let earlier = newest.reader.snapshots.filter { $0.isWhole && $0.time < last.time }
    guard !earlier.isEmpty else { return nil }
    // A program that exits frees its objects: the image at exit says nothing about growth.
    let isOfEnd = last.reason == .exit && earlier.count >= GrowthRules.standard.leastImages
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
      series.note("growth is judged by the images before the program's end, when it lets go of what it has")
      if let heap = newestInSeries { newest.leaks.add(series.suspects, of: heap) }
    } else {
      switch series.add(newest) {
      case .added(let leaks): newest.leaks = leaks
      case .isOld: break
      case .isUnusable(let reason): series.note("image \(last.number) is left out: \(reason)")
      }
    }
    return series.images.moments.count > 1 ? series.growth : nil
  }

  /// The trace's images can be compared.
  static func hasSeries(_ reader: TraceReader) -> Bool {
    reader.header.isLight && reader.snapshots.count(where: \.isWhole) > 1
  }

  /// Returns at most `limit` images, including the first and the last.
  private static func spread(_ images: [TraceSnapshot], limit: Int) -> [TraceSnapshot] {
    if images.count <= limit { return images }
    return (0..<limit).map { images[$0 * (images.count - 1) / (limit - 1)] }
  }
}
