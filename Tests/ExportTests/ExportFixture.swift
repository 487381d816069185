import TraceTestSupport

@testable import TraceExports
@testable import TraceReading

/// A process with two call paths. `main` calls `fill`, which has `Image.init` inlined. `main` also calls into an image
/// without names.
struct ExportFixture {
  var trace = TraceBuilder()
  var naming = TableNaming()
  static let start: UInt64 = 1_700_000_000_123_456_789

  init(imageType: String = "App.Image") throws {
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000, buildID: [0xAB, 0xCD])
    trace.image("/lib/other.so", 0x70_0000..<0x80_0000, bias: 0x70_0000)
    let image = trace.type(imageType)
    naming.add(0x40_0010, "main", file: "/src/main.swift", line: 3)
    naming.add(0x40_0030, "Image.init()", file: "/src/Image.swift", line: 7)
    naming.add(0x40_0030, "fill(_:)", file: "/src/Cache.swift", line: 20)
    let inlined = trace.stack([0x40_0010, 0x40_0030])
    let elsewhere = trace.stack([0x40_0010, 0x70_0010])
    for index in 0..<3 as Range<UInt64> {
      trace.event(.object, 0x10_0000 + index * 0x100, size: 200, type: image, stack: inlined, time: 100 + index)
    }
    trace.event(.malloc, 0x20_0000, size: 64, stack: elsewhere, time: 200)
    trace.event(.free, 0x20_0000, time: 201)
    trace.event(.malloc, 0x30_0000, size: 16, stack: elsewhere, time: 202)
    var closing = TraceClosing(reason: .exit, waitStatus: 0, time: 2_000_000_000, eventCount: 6)
    closing.threadCount = 1
    trace.closing = closing
  }

  /// Returns the profile. `leaked`: nil for a trace without a heap image.
  func profile(leaked: [SiteID: BlockSum]? = nil, frameLimit: Int = .max) throws -> StackProfile {
    var analysis = AllocationAnalysis(try trace.reader())
    analysis.header.startRealtime = Self.start
    return StackProfile(analysis, path: "app.trace", leaked: leaked, frameLimit: frameLimit, naming: naming)
  }
}
