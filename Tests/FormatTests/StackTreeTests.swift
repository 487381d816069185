import Testing
import TraceTestSupport

@testable import TraceReading

private func image(_ path: String, _ range: Range<UInt64> = 0x1000..<0x2000) -> LoadedImage {
  LoadedImage(
    path: path, buildID: [], loadBias: 0, range: RuntimeAddress(range.lowerBound)..<RuntimeAddress(range.upperBound))
}

@Suite struct StackTreeTests {
  @Test func equalStacksShareAnIDAndPathsRunOutward() {
    let tree = StackTree()
    let stack = tree.stack([0x10, 0x20, 0x30])
    #expect(tree.stack([0x10, 0x20, 0x30]) == stack && tree.stack([0x10, 0x20, 0x31]) != stack)
    #expect(
      tree.path(of: stack).frames.map(\.key.address.rawValue) == [0x30, 0x20, 0x10]
        && tree.path(of: stack).end == .complete)
    #expect(tree.keys(of: stack) == [0x10, 0x20, 0x30])
    #expect(tree.parent(of: stack) == tree.stack([0x10, 0x20]))
    #expect(
      tree.stack([]) == .empty && tree.path(of: .empty).frames.isEmpty && tree.path(of: .unknown).end == .undefined)
    #expect(tree.frame(of: StackID(.max)) == nil)
  }

  @Test func flagsOfFrameKeysAreDecoded() {
    let tree = StackTree()
    let frames = tree.path(of: tree.stack([0x1000, 0x4000_0000_0000_2000, 0x8000_0000_0000_3000])).frames.map(\.key)
    #expect(
      frames == [
        FrameKey(address: RuntimeAddress(0x3000), isExact: true, isAsync: true),
        FrameKey(address: RuntimeAddress(0x2000), isExact: true, isAsync: false),
        FrameKey(address: RuntimeAddress(0x1000), isExact: false, isAsync: false),
      ])
    #expect(frames.map(\.lookupAddress) == [0x3000, 0x2000, 0xFFF])
  }

  @Test func outermostFrameAtAddressZeroMarksACutStack() {
    let tree = StackTree()
    let path = tree.path(of: tree.stack([0, 0x10]))
    #expect(path.end == .cut && path.frames.map(\.key.address.rawValue) == [0x10])
  }

  @Test func framesBelongToTheImageLoadedAtTheirTime() throws {
    var writer = TraceWriter()
    // The unloading comes first in the file, because threads write in any order.
    try writer.append([
      .imageUnloaded(first: RuntimeAddress(0x1000), end: RuntimeAddress(0x2000), time: 200),
      .imageLoaded(image("/first"), time: 100),
      .imageLoaded(image("/second"), time: 300), .imageLoaded(image("/other", 0x8000..<0x9000), time: 500),
    ])
    let reader = try TraceReader(bytes: writer.bytes)
    let tree = reader.definitions.stacks
    func path(_ key: UInt64, _ time: UInt64) -> String? {
      tree.frame(of: tree.stack([key], time: time))?.image.map { reader.definitions.images[$0].image.path }
    }
    #expect(path(0x1500, 150) == "/first" && path(0x1500, 400) == "/second" && path(0x1500, 150) == "/first")
    #expect(path(0x1500, 250) == "/second")
    // An image that was loaded from the start may be recorded late.
    #expect(path(0x8500, 1) == "/other" && path(0x1500, 1) == "/first")
    // A return address at the very end of an image belongs to the call before it; an exact address there does not. At
    // the very start of an image, only an exact address belongs to it.
    #expect(path(0x2000, 400) == "/second" && path(0x4000_0000_0000_2000, 400) == nil)
    #expect(path(0x1000, 400) == nil && path(0x4000_0000_0000_1000, 400) == "/second")
  }

  @Test func stacksOfManyShapesKeepTheirKeys() {
    var random = SeededRandom(seed: 5)
    let tree = StackTree()
    var known: [StackID: [UInt64]] = [:]
    for _ in 0..<20_000 {
      let keys = (0..<random.next() % 12).map { depth in depth << 8 | random.next() % (depth < 4 ? 3 : 40) }
      let stack = tree.stack(keys)
      #expect(known[stack] == nil || known[stack] == keys)
      known[stack] = keys
    }
    for (stack, keys) in known { #expect(tree.keys(of: stack) == keys) }
    #expect(Set(known.values).count == known.count)
  }

  @Test func stacksBeyondTheFileSizeLimitAreUnknownAndCounted() throws {
    // Each event but the first pops 2^20 frames, and pushes as many new ones: a new key, and copies of it.
    let pushes: [UInt8] = [0x80, 0x80, 0x40, 0, 2, 0x81, 0x20, 0xFF, 0xFF, 0x3F]
    var payload: [UInt8] = []
    for n in 0..<8 { payload += [16, 0] + (n == 0 ? [0] : [0x80, 0x80, 0x40] as [UInt8]) + pushes }
    var writer = TraceWriter()
    try writer.append(kind: .events, thread: 1, payload: payload, eventCount: 8)
    #expect(writer.bytes.count < 5000)
    let reader = try TraceReader(bytes: writer.bytes, policy: ReadingPolicy(isUntrusted: true))
    let events = CollectedEvents.of(reader)
    #expect(events.count == 8 && events[0].stack != .unknown && events[7].stack == .unknown)
    #expect(reader.definitions.stacks.nodeCount < 5 << 20)
    guard case .tooManyStacks? = reader.diagnostics.first.last?.kind else {
      Issue.record("\(reader.diagnostics)")
      return
    }
  }
}
