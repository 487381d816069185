import CTraceFormat
import TestRequirements
import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import RunDiff
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

/// Limits on the work that a few bytes can cause in a reader.
@Suite struct ReadingLimitTests {
  private func kinds(_ reader: TraceReader) -> [TraceDiagnostic.Kind] { reader.diagnostics.first.map(\.kind) }

  private func isRefusal(_ kind: TraceDiagnostic.Kind) -> Bool {
    if case .beyondFileSize = kind { true } else { false }
  }

  @Test func definitionsAreLimitedByFileSize() throws {
    // Each payload has 1 MiB of empty records of kind 0, which take little of the file.
    var writer = TraceWriter()
    try writer.append([.warning("first")], thread: 0)
    for _ in 0..<4 { try writer.append(kind: .definitions, thread: 0, payload: Array(repeating: 0, count: 1 << 20)) }
    try writer.append([.warning("last")], thread: 0)
    var limits = ReadingLimits(fileSize: 0)
    limits.definitionBytes = 2 << 20 + 100
    let reader = try TraceReader(bytes: writer.bytes, limits: limits)
    #expect(kinds(reader) == Array(repeating: .beyondFileSize(claimed: ByteCount(1 << 20)), count: 2))
    // Records that fit are read, wherever they are.
    #expect(reader.definitions.warnings == ["first", "last"])
  }

  @Test func eventsAreLimitedByFileSizeInEveryPass() throws {
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    for _ in 0..<100_000 { encoder.append(TraceEvent(operation: .free, address: 0x10)) }
    var writer = TraceWriter()
    for _ in 0..<5 { try writer.append(encoder, thread: 1, firstTime: 0) }
    var limits = ReadingLimits(fileSize: 0)
    limits.eventBytes = UInt64(encoder.count) * 3
    let reader = try TraceReader(bytes: writer.bytes, limits: limits)
    for _ in 0..<2 { #expect(CollectedEvents.of(reader).count == 300_000) }
    #expect(kinds(reader).filter(isRefusal).count == 2)
    let walker = ChunkWalker(reader)
    #expect(walker.countEvents(inChunk: 2) == 100_000 && walker.countEvents(inChunk: 3) == 0)
  }

  @Test func recursionDepthIsLimitedByFileSize() throws {
    // The payload has a literal key and 2^16 copies of it. Then it repeats as many pops and copies, in ten bytes each
    // time.
    let depth = 1 << 16
    var payload = ByteBuilder()
    func push(pops: Int, literal: Bool) {
      payload.byte(2)
      payload.byte(36)
      payload.varint(UInt64(pops))
      payload.varint(UInt64(depth))
      if literal {
        payload.varint(UInt64(LT_TOKEN_LITERAL))
        payload.zigzag(0x400000)
      }
      payload.varint(UInt64(LT_TOKEN_COPY))
      payload.varint(UInt64(literal ? depth - 1 : depth))
    }
    push(pops: 0, literal: true)
    for _ in 1..<64 {
      // One frame stays, so that it can be copied.
      payload.byte(2)
      payload.byte(36)
      payload.varint(UInt64(depth - 1))
      payload.varint(UInt64(depth - 1))
      payload.varint(UInt64(LT_TOKEN_COPY))
      payload.varint(UInt64(depth - 1))
    }
    var writer = TraceWriter()
    try writer.append(kind: .events, thread: 1, payload: payload.bytes, eventCount: 64, compression: .none)
    #expect(CollectedEvents.of(try TraceReader(bytes: writer.bytes)).count == 64)
    var limits = ReadingLimits(fileSize: 0)
    limits.copiedFrames = UInt64(10 * depth)
    let reader = try TraceReader(bytes: writer.bytes, limits: limits)
    // Each pass has its own count.
    for _ in 0..<2 { #expect(CollectedEvents.of(reader).count == 10) }
    #expect(kinds(reader).contains { if case .tooManyStacks = $0 { true } else { false } })
    #expect(kinds(reader).contains { if case .damagedEvents(_, 10) = $0 { true } else { false } })
  }

  @Test func blocksAreLimitedByFileSize() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x1000])
    for index in 0..<1000 as Range<UInt64> {
      trace.event(.malloc, 0x5000_0000 + index * 16, size: 16, stack: stack, time: index * 8)
    }
    trace.event(.free, 0x5000_0000, time: 9000)
    trace.event(.malloc, 0x6000_0000, size: 16, stack: stack, time: 9008)
    var limits = ReadingLimits(fileSize: 0)
    limits.liveBlocks = 600
    let reader = try TraceReader(bytes: try trace.bytes(), limits: limits)
    let analysis = AllocationAnalysis(reader)
    #expect(analysis.atExit.liveBlocks == 600)
    #expect(analysis.diagnostics.first.map(\.kind) == [.tooManyBlocks(ignored: 400)])
    #expect(analysis.gaps.hideAllocations == false || analysis.gaps.causes == [.damaged])
  }

  @Test func allocationsAmongManyBlocksAreLimitedByFileSize() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x1000])
    let near: UInt64 = 1 << 14
    var time: UInt64 = 0
    func allocate(_ index: UInt64) {
      time += 8
      trace.event(.malloc, 0x5000_0000 + index * 16, size: 16, stack: stack, time: time)
    }
    for index in 0...near { allocate(index) }
    for _ in 0..<100 {
      time += 8
      trace.event(.free, 0x5000_0000 + near * 16, time: time)
      allocate(near)
      allocate(near + 1)
      time += 8
      trace.event(.free, 0x5000_0000 + (near + 1) * 16, time: time)
    }
    for (limit, ignored) in [(100, 0), (60, 40)] as [(UInt64, UInt64)] {
      var limits = ReadingLimits(fileSize: 0)
      limits.farAllocations = limit
      let analysis = AllocationAnalysis(try TraceReader(bytes: try trace.bytes(), limits: limits))
      #expect(analysis.diagnostics.first.map(\.kind) == (ignored == 0 ? [] : [.tooManyBlocks(ignored: ignored)]))
      #expect(analysis.atExit.liveBlocks == near + 1)
    }
  }

  /// Makes a trace of `count` objects, each freed immediately.
  private func objects(_ count: UInt64) throws -> [UInt8] {
    var trace = TraceBuilder()
    let type = trace.type("App.Node")
    let stack = trace.stack([0x1000])
    for index in 0..<count {
      trace.event(.object, 0x5000_0000, size: 32, type: type, stack: stack, time: index * 16)
      trace.event(.free, 0x5000_0000, time: index * 16 + 8)
    }
    return try trace.bytes()
  }

  @Test func passesOverTheEventsAreLimitedByFileSize() throws {
    let bytes = try objects(1000)
    var limits = ReadingLimits(fileSize: 0)
    let once = ReadingLimits.eventBytes(of: try TraceReader(bytes: bytes).chunks)
    limits.replayedBytes = once * 2
    let reader = try TraceReader(bytes: bytes, limits: limits)
    #expect(reader.sparePasses == 2)
    let analysis = AllocationAnalysis(reader)
    #expect(CollectedEvents.of(reader).count == 2000 && reader.refusedPass == nil)
    #expect(CollectedEvents.of(reader).isEmpty)
    #expect(reader.refusedPass?.kind == .tooManyPasses(bytes: ByteCount(once)))
    // The limit allows no further pass, so the whole history is refused.
    #expect(
      HistoryAnalysis(reader, analysis, snapshot: nil, naming: OffsetNaming()).report(.type(NamePattern("Node"))) == nil
    )
  }

  @Test func firstPassIsAlwaysAllowed() throws {
    var limits = ReadingLimits(fileSize: 0)
    limits.replayedBytes = 0
    let reader = try TraceReader(bytes: try objects(10), limits: limits)
    #expect(CollectedEvents.of(reader).count == 20 && CollectedEvents.of(reader).isEmpty)
  }

  @Test func threadSwitchesAreLimitedByFileSize() throws {
    var trace = TraceBuilder()
    for index in 0..<1000 as Range<UInt64> {
      trace.event(.malloc, 0x5000_0000 + index * 16, size: 16, time: index * 8, thread: 1 + UInt32(index % 2))
    }
    let bytes = try trace.bytes()
    #expect(CollectedEvents.of(try TraceReader(bytes: bytes)).count == 1000)
    var limits = ReadingLimits(fileSize: 0)
    limits.turns = 100
    let reader = try TraceReader(bytes: bytes, limits: limits)
    let count = CollectedEvents.of(reader).count
    #expect(count > 90 && count <= 100)
    #expect(kinds(reader) == [.tooManyTurns(chunks: 2)])
  }

  @Test func collectedEventsOfCountedBlocksAreLimitedByFileSize() throws {
    var limits = ReadingLimits(fileSize: 0)
    limits.collectedEvents = 600
    let reader = try TraceReader(bytes: try objects(1000), limits: limits)
    let history = RetainHistory.collect(.sites([SiteID(0)]), until: .max, in: reader)
    // Each free is counted together with its allocation.
    #expect(history.shapes.values.map(\.blocks) == [600] && history.refusedEvents == 400)
  }

  @Test(.secondTier) func eventsOfAComparisonAreLimitedByFileSizes() throws {
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    for _ in 0..<4 << 20 { encoder.append(TraceEvent(operation: .free, address: 0x10)) }
    var writer = TraceWriter()
    for _ in 0..<7 { try writer.append(encoder, thread: 1, firstTime: 0) }
    var limits = ReadingLimits(fileSize: 0)
    limits.eventBytes = .max
    let reader = try TraceReader(bytes: writer.bytes, limits: limits)
    var limit = ComparisonLimit()
    for _ in 0..<3 {
      limit.add(reader)
      #expect(!limit.isExceeded)
    }
    limit.add(reader)
    #expect(limit.isExceeded)
  }

  @Test func sitesBeyondTheFileSizeLimitAreMerged() throws {
    var trace = TraceBuilder()
    let type = trace.type("App.Node")
    for index in 0..<1000 as Range<UInt64> {
      let isObject = index % 2 == 1
      trace.event(
        isObject ? .object : .malloc, 0x5000_0000 + index * 16, size: 16, type: isObject ? type : 0,
        stack: trace.stack([0x1000 + index]), time: index * 8)
    }
    for index in 0..<1000 as Range<UInt64> { trace.event(.free, 0x5000_0000 + index * 16, time: 9000 + index * 8) }
    var limits = ReadingLimits(fileSize: 0)
    limits.siteCount = 600
    let analysis = AllocationAnalysis(try TraceReader(bytes: try trace.bytes(), limits: limits))
    #expect(analysis.diagnostics.first.map(\.kind) == [.tooManySites(allocations: 400)])
    // For each operation there is one more site, for the allocations without a site of their own.
    #expect(analysis.sites.count == 602)
    #expect(analysis.sites.reduce(0) { $0 + $1.total.allocatedBlocks } == 1000 && analysis.atExit.liveBlocks == 0)
  }

  @Test func stackLookupsStopAtTwiceTheFileSizeLimit() {
    let tree = StackTree()
    var limits = ReadingLimits(fileSize: 0)
    limits.stackCount = 100
    tree.prepare(images: [], limits: limits)
    let known = (1...98 as ClosedRange<UInt64>).map { tree.stack([$0 << 4]) }
    #expect(Set(known).count == 98 && !known.contains(.unknown))
    for key in 200...300 as ClosedRange<UInt64> { #expect(tree.stack([key << 4]) == .unknown) }
    // Except for a few, the children of one stack are found only by hash, so they are not found any more.
    let found = (1...98 as ClosedRange<UInt64>).filter { tree.stack([$0 << 4]) != .unknown }
    #expect(found.count < 40 && tree.nodeCount == 100 && tree.overflowCount == 101 + 98 - UInt64(found.count))
  }

  @Test func imagesAreLimitedByFileSize() throws {
    var trace = TraceBuilder()
    for index in 0..<100 as Range<UInt64> { trace.image("/lib/\(index)", 0x1000 * index..<0x1000 * (index + 1)) }
    var limits = ReadingLimits(fileSize: 0)
    limits.imageCount = 60
    let reader = try TraceReader(bytes: try trace.bytes(), limits: limits)
    #expect(reader.definitions.images.count == 60)
    #expect(kinds(reader) == [.tooManyDefinitions(ignored: 40)])
  }

  @Test func oversizedTextsAreDamage() throws {
    var writer = TraceWriter()
    try writer.append(
      [.warning(String(repeating: "x", count: 4096)), .warning(String(repeating: "y", count: 4097)), .warning("z")],
      thread: 0)
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.definitions.warnings.map(\.count) == [4096, 1])
    #expect(kinds(reader).count == 1)
  }

  @Test func nestedChunksAreReadOnlyUpToADamageLimit() throws {
    // The headers are valid, but have no payloads. Each claims the whole rest of the file.
    let count = 4000
    let size = Int(LT_TRACE_HEADER_SIZE) + count * TraceChunk.headerSize
    var bytes = TraceWriter().bytes
    for index in 0..<count {
      let rest = UInt32(size - bytes.count - TraceChunk.headerSize)
      let chunk = TraceChunk(
        kind: .unknown(9), thread: 1, sequence: UInt32(index), firstTime: 0, lastTime: 0, eventCount: 0, compression: 0,
        storedSize: rest, rawSize: rest,
        place: .trace(FileOffset(0)))
      bytes += chunk.encodedHeader(payloadChecksum: 1)
    }
    var scanner = ChunkScanner(source: ByteSource(bytes: bytes), damageLimit: UInt64(size) * 10)
    scanner.scan()
    #expect(scanner.chunks.isEmpty)
    // There are about as many diagnostics as the limit allows. The last one sums up the rest.
    #expect(scanner.diagnostics.count < 15)
    #expect(scanner.diagnostics.last.map { if case .unreadableBytes = $0.kind { true } else { false } } == true)
  }

  @Test func limitsGrowWithTheFile() {
    let (small, large) = (ReadingLimits(fileSize: 1 << 10), ReadingLimits(fileSize: .max))
    #expect(small.eventBytes >= 4 << 20 && small.liveBlocks >= 6 << 20)
    #expect(
      large.eventBytes > small.eventBytes && large.definitionBytes > small.definitionBytes
        && large.memoryBytes > small.memoryBytes)
    #expect(large.stackCount <= Int(Int32.max) && large.liveBlocks <= ReadingLimits.blockLimit)
  }
}

/// Images that overlap in time and in addresses.
@Suite struct OverlappingImageTests {
  private func image(_ range: Range<UInt64>, loaded: UInt64, unloaded: UInt64? = nil) -> TraceImage {
    TraceImage(
      image: LoadedImage(
        path: "/a", buildID: [], loadBias: 0, range: RuntimeAddress(range.lowerBound)..<RuntimeAddress(range.upperBound)
      ), loadTime: loaded,
      unloadTime: unloaded)
  }

  /// Applies the rule of the format directly, one image after the other.
  private func expected(_ images: [TraceImage], _ address: UInt64, _ time: UInt64) -> Set<Int> {
    let covering = images.indices.filter { images[$0].image.range.contains(RuntimeAddress(address)) }
    let present = covering.filter { images[$0].loadTime <= time && images[$0].unloadTime.map { $0 >= time } ?? true }
    if let latest = present.map({ images[$0].loadTime }).max() {
      return Set(present.filter { images[$0].loadTime == latest })
    }
    let later = covering.filter { images[$0].loadTime > time }
    guard let first = later.map({ images[$0].loadTime }).min() else { return [] }
    return Set(later.filter { images[$0].loadTime == first })
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func addressBelongsToTheLatestLoadedImage(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let images = (0..<Int(random.next() % 60)).map { _ in
      let start = random.next() % 200
      let loaded = random.next() % 50
      return image(
        start..<start + random.next() % 60, loaded: loaded,
        unloaded: random.oneIn(2) ? loaded + random.next() % 20 : nil)
    }
    let index = ImageIndex(images: images)
    for address in 0..<280 as Range<UInt64> {
      for time in stride(from: 0 as UInt64, to: 75, by: 3) {
        let found = index.image(covering: address, time: time)
        let wanted = expected(images, address, time)
        #expect(found.map { wanted.contains($0) } ?? wanted.isEmpty, "seed \(seed), \(address) at \(time)")
      }
    }
  }

  @Test func lookupAmongManyOverlappingImagesIsFast() {
    let count = 100_000 as UInt64
    let images = (0..<count).map { image(0x1000 + $0..<0x7F00_0000_0000 - $0, loaded: $0) }
    let index = ImageIndex(images: images)
    #expect(index.isAmbiguous)
    // Comparing with one image after the other would take hours.
    for step in 0..<200_000 as Range<UInt64> {
      let address = 0x1000 + step * 7919 % 200_000
      #expect(index.image(covering: address, time: .max) == Int(min(address - 0x1000, count - 1)))
    }
  }

  @Test func loadsAndUnloadsAtOneAddressArePairedInOrder() {
    var records = ImageRecords()
    let count = 50_000 as UInt64
    for round in 0..<count {
      records.loads.append(image(0x1000..<0x2000, loaded: round * 10))
      records.unloads.append(.init(first: 0x1000, end: 0x2000, time: round * 10 + 5))
    }
    let paired = records.paired()
    #expect(paired.allSatisfy { $0.unloadTime == $0.loadTime + 5 })
    let index = ImageIndex(images: paired)
    #expect((0..<count).allSatisfy { index.image(covering: 0x1800, time: $0 * 10 + 3) == Int($0) })
  }
}

/// Limits on the text that a few bytes can produce.
@Suite struct DumpLimitTests {
  @Test(arguments: [false, true]) func dumpTextIsLimitedByFileSize(isByTime: Bool) throws {
    var trace = TraceBuilder()
    for index in 0..<1000 as Range<UInt64> {
      trace.event(.malloc, 0x5000_0000 + index * 16, size: 16, stack: trace.stack([0x1000]), time: index * 8)
    }
    var limits = ReadingLimits(fileSize: 0)
    limits.textBytes = 10_000
    let reader = try TraceReader(bytes: try trace.bytes(), limits: limits)
    func lines(_ extent: RecordDump.Extent) throws -> [String] {
      let lines = Lines()
      let dump = RecordDump(reader, parts: [.events], extent: extent)
      if isByTime {
        try dump.writeEventsByTime { lines.all.append($0) }
      } else {
        try dump.write { lines.all.append($0) }
      }
      return lines.all
    }
    #expect(throws: RecordDump.BeyondFileSize.self) { try lines(.asFileJustifies) }
    let all = try lines(.everything)
    #expect(all.count == 1001)
    limits.textBytes = all.reduce(0) { $0 + UInt64($1.utf8.count) + ReadingLimits.textOfLine }
    let whole = try TraceReader(bytes: try trace.bytes(), limits: limits)
    let kept = Lines()
    try RecordDump(whole, parts: [.events]).write { kept.all.append($0) }
    #expect(kept.all.count == 1001)
  }

  private final class Lines { var all: [String] = [] }
}
