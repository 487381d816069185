// Growth between the images of one process: which rows are suspected, and which images a long series keeps.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

@Suite struct ImageSeriesTests {
  private typealias Row = HolderCensus.Row

  private static func row(
    _ type: String, in holder: String, _ kind: HolderCensus.HolderKind = .field, count: Int, owner: String? = nil,
    node: NodeKind = .object, retained: Int? = nil, isPlatform: Bool = false
  ) -> HolderCensus.Row {
    var row = HolderCensus.Row(
      key: .init(type: type, holder: holder), name: type, kind: node, holderKind: kind, owner: owner,
      isPlatform: isPlatform)
    row.objects = UInt64(node.isCollection ? 1 : count)
    row.elements = UInt64(count)
    row.bytes = UInt64(count * 48)
    row.retainedBytes = UInt64(retained ?? count * 48)
    return row
  }

  /// Makes a series. `addresses`: the addresses of a row's objects in an image; nil for rows without known addresses.
  private static func series(
    _ images: Int, addresses: (String, Int) -> Range<UInt64>? = { _, _ in nil }, _ rows: (Int) -> [HolderCensus.Row]
  ) -> ImageSeries {
    var series = ImageSeries()
    for image in 0..<images {
      let rows = rows(image)
      let samples = rows.compactMap { row in addresses(row.key.type, image).map { (row.key, sample($0)) } }
      series.add(
        ImageMoment(time: 60 * Double(image)),
        ImageCensus(
          census: HolderCensus(rows: rows, objects: rows.reduce(0) { $0 + $1.objects }, bytes: 0),
          samples: Dictionary(uniqueKeysWithValues: samples)), findings: [])
    }
    return series
  }

  private static func sample(_ addresses: Range<UInt64>) -> ObjectSample {
    var sample = ObjectSample()
    for address in addresses { sample.add(address: address << 4) }
    return sample
  }

  @Test func holderOfGrowingObjectsIsSuspectedWithoutTheirContents() {
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

  @Test func objectsMovingBetweenHoldersAreNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Session", in: "Server.idle", count: 20 * image),
        Self.row("App.Session", in: "Server.busy", count: 20 * (12 - image)),
      ]
    }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.map(\.row.key.holder) == ["Server.idle"])
  }

  @Test func threadAndLibraryObjectsAreShownButNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Job", in: "stacks of threads", .thread, count: 20 * image),
        Self.row("malloc", in: "variables of libdispatch.so", .library, count: 20 * image, node: .malloc),
        Self.row("Foundation.Data", in: "variables of libFoundation.so", .library, count: 20 * image, isPlatform: true),
        Self.row("App.Lost", in: "nothing", .nothing, count: 20 * image),
      ]
    }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.count == 4)
  }

  @Test(
    "Program objects held by a library are suspected, strongly if they stay from image to image",
    arguments: [nil, 1, 0.7] as [Double?])
  func heldByLibraries(kept: Double?) {
    // The objects with the lowest addresses are gone in the next image. About the share `kept` of the objects remains.
    let growth = Self.series(
      12,
      addresses: { _, image in
        guard let kept else { return nil }
        let first = UInt64(Double(400 + 20 * image) * (1 - kept)) * UInt64(image)
        return first..<first + UInt64(400 + 20 * image)
      }
    ) { image in
      [Self.row("App.Socket", in: "variables of libdispatch.so", .library, count: 400 + 20 * image)]
    }.growth()
    let strength = growth.suspects.map { $0.suspicion?.isStrong }
    #expect(strength == (kept == 1 ? [true] : kept == nil ? [false] : []))
  }

  @Test func objectsThatGrowWithTheirHoldersAreNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Job", in: "stacks of threads", .thread, count: 20 + 20 * image),
        Self.row("App.Name", in: "Job.name", count: 20 + 20 * image, owner: "App.Job"),
        Self.row("App.Line", in: "Job.lines", count: (20 + 20 * image) * (1 + image), owner: "App.Job"),
      ]
    }.growth()
    // The number of lines of each job grows.
    #expect(growth.suspects.map(\.row.key.type) == ["App.Line"])
    let name = growth.grown.first { $0.row.key.type == "App.Name" }
    #expect(name?.judgement == .innocent(.growsWithHolder))
  }

  @Test func objectsBehindASuspectAreNotSuspected() {
    let growth = Self.series(12) { image in
      [
        Self.row("App.Session", in: "Server.sessions", count: 20 * image, owner: "App.Server", retained: 9000 * image),
        Self.row("App.Cart", in: "Session.cart", count: 20 * image, owner: "App.Session"),
        Self.row("App.Item", in: "Cart.items", count: 20 * image * image, owner: "App.Cart"),
      ]
    }.growth()
    #expect(growth.suspects.map(\.row.key.type) == ["App.Session"] && growth.grown.isEmpty)
  }

  @Test func programObjectsHeldByLibraryTimersAreReportedInsteadOfTheTimers() {
    let growth = Self.series(12) { image in
      [
        Self.row("Foundation.Entry", in: "Table", count: 20 * image, retained: 9000 * image, isPlatform: true),
        Self.row("Foundation.Timer", in: "Entry", count: 20 * image, owner: "Foundation.Entry", isPlatform: true),
        Self.row("App.Upload", in: "Timer.block", count: 20 * image, owner: "Foundation.Timer"),
      ]
    }.growth()
    #expect(growth.suspects.map(\.row.key.type) == ["App.Upload"])
  }

  @Test("An image with a temporarily empty field is not a drop", arguments: [true, false])
  func moves(areElsewhere: Bool) {
    let growth = Self.series(12) { image in
      let isMoving = image == 5 || image == 9
      return [
        Self.row("App.Session", in: "Server.sessions", count: isMoving ? 0 : 20 * image),
        Self.row(
          "App.Session", in: "stacks of threads", .thread, count: isMoving && areElsewhere ? 20 * image - 10 : 0),
      ]
    }.growth()
    #expect(growth.suspects.map(\.row.key.holder) == (areElsewhere ? ["Server.sessions"] : []))
  }

  @Test func growingWorkInProgressIsNotSuspected() {
    let rows = { (image: Int) in [Self.row("App.Request", in: "Server.active", count: 60 + 30 * image)] }
    // With a life of 3, no object exists in more than three of the 24 images.
    func suspects(_ life: UInt64) -> Int {
      Self.series(
        24,
        addresses: { _, image in
          let (born, count) = (UInt64(image) * 1000, UInt64(60 + 30 * image))
          return born / life..<born / life + count
        }, rows
      ).growth().suspects.count
    }
    #expect(suspects(3) == 0)
    #expect(suspects(1 << 40) == 1)
  }

  @Test func twoImagesShowGrowthWithoutSuspicion() {
    let growth = Self.series(2) { [Self.row("App.Session", in: "Server.sessions", count: 20 * $0)] }.growth()
    #expect(growth.suspects.isEmpty && growth.grown.first?.grown == 20)
    #expect(growth.grown.first?.judgement == .innocent(.tooFewImages))
  }

  @Test func longSeriesDropsOldImagesAndKeepsTheNewest() {
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

  @Test func laterRowHasZerosBefore() {
    let growth = Self.series(4) { image in
      image < 2 ? [] : [Self.row("App.Late", in: "Server.late", count: 7)]
    }.growth()
    #expect(growth.grown.first?.figures.map(\.count) == [0, 0, 7, 7])
  }

  @Test func samplesDistinguishKeptFromReplacedObjects() {
    let sample = Self.sample
    #expect(sample(0..<1000).keptShare(in: sample(0..<1000)) == 1)
    #expect(sample(0..<1000).keptShare(in: sample(0..<5000)) == 1)
    #expect(sample(0..<1000).keptShare(in: sample(1000..<2000)) == 0)
    #expect(abs((sample(0..<10_000).keptShare(in: sample(5000..<15_000)) ?? 0) - 0.5) < 0.2)
    #expect(sample(0..<7).keptShare(in: sample(0..<7)) == nil)
  }
}
