// Images of one process, holder by holder: what is suspected, what hangs from it, and what is forgotten.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

@Suite struct ImageSeriesTests {
  private typealias Row = HolderCensus.Row

  private static func row(
    _ type: String, in holder: String, _ kind: HolderCensus.HolderKind = .field, count: Int, owner: String? = nil,
    node: NodeKind = .object, retained: Int? = nil
  ) -> HolderCensus.Row {
    var row = HolderCensus.Row(
      key: .init(type: type, holder: holder), name: type, kind: node, holderKind: kind, owner: owner)
    row.objects = UInt64(node.isCollection ? 1 : count)
    row.elements = UInt64(count)
    row.bytes = UInt64(count * 48)
    row.retainedBytes = UInt64(retained ?? count * 48)
    return row
  }

  private static func series(_ images: Int, _ rows: (Int) -> [HolderCensus.Row]) -> ImageSeries {
    var series = ImageSeries()
    for image in 0..<images {
      let rows = rows(image)
      series.add(
        ImageMoment(time: 60 * Double(image)),
        ImageCensus(
          census: HolderCensus(rows: rows, objects: rows.reduce(0) { $0 + $1.objects }, bytes: 0)), findings: [])
    }
    return series
  }

  @Test func theHolderOfWhatGrowsIsSuspectedAndNotWhatItsObjectsKeep() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Session", in: "Server.sessions", count: 20 * image, owner: "App.Server", retained: 2000 * image),
        Self.row("Swift.__StringStorage", in: "Session.name", count: 20 * image, owner: "App.Session"),
        Self.row("[Int: Session]", in: "Server.sessions", count: 20 * image, owner: "App.Server", node: .dictionary),
        Self.row("App.Row", in: "Session.rows", count: 60 * image, owner: "App.Session"),
        Self.row("App.Setting", in: "Server.settings", count: 5, owner: "App.Server"),
      ]
    }.growth()
    #expect(growth.suspects.map(\.row.key.type) == ["App.Session"] && growth.grown.isEmpty)
    #expect(growth.suspects.first?.suspicion?.isStrong == true && growth.suspects.first?.grown == 220)
  }

  @Test func objectsThatMoveFromOneHolderToAnotherAreNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Session", in: "Server.idle", count: 20 * image),
        Self.row("App.Session", in: "Server.busy", count: 20 * (12 - image)),
      ]
    }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.map(\.row.key.holder) == ["Server.idle"])
  }

  @Test func whatThreadsWorkWithAndLibrariesKeepIsShownAndNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Job", in: "stacks of threads", .thread, count: 20 * image),
        Self.row("App.Item", in: "variables of libdispatch.so", .library, count: 20 * image),
        Self.row("App.Lost", in: "nothing", .nothing, count: 20 * image),
      ]
    }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.count == 3)
  }

  @Test func twoImagesShowWhatGrewAndAccuseNobody() {
    let growth = Self.series(2) { [Self.row("App.Session", in: "Server.sessions", count: 20 * $0)] }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.first?.grown == 20)
    #expect(growth.grown.first?.judgement == .innocent(.tooFewImages))
  }

  @Test func ofManyImagesSomeAreForgottenAndTheNewestIsThere() {
    let count = 3 * ImageSeries.imageLimit
    let series = Self.series(count) { [Self.row("App.Session", in: "Server.sessions", count: 20 * $0)] }
    #expect(series.moments.count <= ImageSeries.imageLimit && series.taken == count)
    #expect(series.moments.first?.time == 0 && series.moments.last?.time == 60 * Double(count - 1))
    #expect(
      zip(series.moments, series.moments.dropFirst()).dropLast().allSatisfy {
        $1.time - $0.time == 60 * Double(series.step)
      })
    let growth = series.growth()
    #expect(growth.suspects.first?.figures.count == series.moments.count)
    #expect(growth.suspects.first?.figures.last?.count == UInt64(20 * (count - 1)))
  }

  @Test func whatComesLaterWasNotThereBefore() {
    let growth = Self.series(4) { image in
      image < 2 ? [] : [Self.row("App.Late", in: "Server.late", count: 7)]
    }.growth()
    #expect(growth.grown.first?.figures.map(\.count) == [0, 0, 7, 7])
  }

  @Test func samplesTellWhatStaysFromWhatIsReplaced() {
    func sample(_ addresses: Range<UInt64>) -> ObjectSample {
      var sample = ObjectSample()
      for address in addresses { sample.add(address: address << 4) }
      return sample
    }
    #expect(sample(0..<1000).keptShare(in: sample(0..<1000)) == 1)
    #expect(sample(0..<1000).keptShare(in: sample(0..<5000)) == 1)
    #expect(sample(0..<1000).keptShare(in: sample(1000..<2000)) == 0)
    #expect(abs((sample(0..<10_000).keptShare(in: sample(5000..<15_000)) ?? 0) - 0.5) < 0.2)
    #expect(sample(0..<7).keptShare(in: sample(0..<7)) == nil)
  }
}
