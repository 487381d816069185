// Blocks from before the recording began. The allocator's metadata lists them, but they have no allocation events.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct BlockListTests {
  private static let time: UInt64 = 800

  /// Returns the trace of a running process. It has allocated one block and freed another, and will free a third.
  private func trace(_ parts: [[ListedBlock]]) -> TraceBuilder {
    var trace = TraceBuilder()
    trace.header.startTime = 80
    trace.definitions.append(.process(ProcessRecord(executable: "/app", flags: 1 << 3)))
    _ = trace.type("App.Node")
    trace.event(.malloc, 0x1000, size: 50, stack: trace.stack([0x10]), time: 100)
    trace.event(.free, 0x7000, time: 200)
    trace.event(.malloc, 0x1100, size: 50, stack: trace.stack([0x10]), time: 300)
    trace.event(.free, 0x2000, time: 400)
    // This free comes after the image.
    trace.event(.free, 0x3000, time: 900)
    trace.snapshots = [(TraceSnapshot(time: Self.time), [])]
    trace.blockParts = parts.indices.map { index in
      var part = TraceBuilder.BlockPart(parts[index], time: Self.time)
      part.part = UInt32(index)
      part.isLast = index == parts.count - 1
      return part
    }
    return trace
  }

  private func analysis(_ trace: TraceBuilder) throws -> AllocationAnalysis {
    let reader = try trace.reader()
    let snapshot = try #require(reader.snapshots.first)
    return AllocationAnalysis(reader, snapshot: snapshot)
  }

  private static let blocks = [
    ListedBlock(address: 0x1000, size: 56), ListedBlock(address: 0x1100, size: 0x200),
    ListedBlock(address: 0x2000, size: 24), ListedBlock(address: 0x3000, size: 40, type: 1),
    ListedBlock(address: 0x4000, size: 104), ListedBlock(address: 0x5000, size: 104, type: 77),
  ]

  @Test("Listed blocks without events predate the recording, and known blocks and unfinished frees are kept")
  func merging() throws {
    for parts in [[Self.blocks], [Array(Self.blocks.prefix(2)), Array(Self.blocks.dropFirst(2))]] {
      let analysis = try self.analysis(trace(parts))
      #expect(analysis.diagnostics.isEmpty)
      let blocks = analysis.blocksAtSnapshot.sorted { $0.address < $1.address }
      #expect(blocks.map(\.address) == [0x1000, 0x1100, 0x3000, 0x4000, 0x5000])
      #expect(blocks.map(\.size) == [50, 50, 40, 104, 104])
      let sites = blocks.map { analysis.sites[Int($0.site.rawValue)] }
      // An unknown type in the list counts as no type.
      #expect(sites.map(\.type) == [0, 0, 1, 0, 0] && sites[2].operation == .object)
      #expect(sites[2].lifetime.births == 0 && sites[2].total.allocatedBlocks == 0)
      #expect(blocks[2].birthTime == 80 && sites[2].stack == .empty)
      #expect(analysis.unseen?.blocks == 3 && analysis.unseen?.bytes == 248)
      #expect(analysis.gaps == .none)
      #expect(analysis.atExit.liveBlocks == 2)
    }
  }

  @Test("A block list with missing blocks leaves their contents unknown") func incomplete() throws {
    var trace = self.trace([Self.blocks])
    trace.snapshots[0].snapshot.lacksBlocks = true
    let analysis = try self.analysis(trace)
    #expect(analysis.unseen?.blocks == 3 && analysis.gaps.causes == [.notFound])
  }

  @Test("A list that is damaged, incomplete or of another image is ignored") func damage() throws {
    var traces: [TraceBuilder] = []
    func change(_ blocks: [[ListedBlock]] = [Self.blocks], _ body: (inout TraceBuilder) -> Void = { _ in }) {
      var trace = self.trace(blocks)
      body(&trace)
      traces.append(trace)
    }
    change([])
    change { $0.blockParts[0].isLast = false }
    change { $0.blockParts[0].part = 1 }
    change { $0.blockParts[0].snapshot = 2 }
    change { $0.blockParts[0].time = 801 }
    change([Array(Self.blocks.prefix(2)), Array(Self.blocks.dropFirst(2))]) { $0.blockParts.removeFirst() }
    change([Self.blocks, Self.blocks])
    change { $0.blockParts.append($0.blockParts[0]) }
    change([[ListedBlock(address: 0x4000, size: 100), ListedBlock(address: 0x4010, size: 100)]])
    change([[ListedBlock(address: 0x4000, size: .max)]])
    change([[ListedBlock(address: .max - 7, size: 8)]])
    change([[ListedBlock(address: 0, size: 8)]])
    for trace in traces {
      let analysis = try self.analysis(trace)
      #expect(analysis.unseen == nil && analysis.gaps.causes == [.attached])
      #expect(analysis.blocksAtSnapshot.count == 2)
    }
  }
}
