import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ReadingProgressTests {
  private func trace(threads: UInt32) throws -> TraceReader {
    var builder = TraceBuilder()
    builder.eventsPerChunk = 10
    for thread in 1...threads {
      for index in 0..<95 {
        builder.event(.malloc, UInt64(index + 1) * 16, size: 16, time: UInt64(index) * 80, thread: thread)
      }
    }
    return try builder.reader()
  }

  @Test(arguments: [1, 3] as [UInt32]) func progressReportsEachChunkWithTheBytesReadBeforeIt(threads: UInt32) throws {
    let reader = try trace(threads: threads)
    let chunks = reader.chunks.filter { $0.kind == .events }
    var reported: [ReadingPosition] = []
    reader.whileReading { reported.append($0) }
    _ = CollectedEvents.of(reader)

    #expect(reported.count == chunks.count)
    #expect(reported.first?.bytes == 0)
    let total = chunks.reduce(UInt64(0)) { $0 + UInt64($1.storedSize) }
    #expect(reported.allSatisfy { $0.totalBytes == total && $0.pass == 0 })
    #expect(zip(reported, reported.dropFirst()).allSatisfy { $0.bytes < $1.bytes && $0.events < $1.events })
    // All chunks are counted except the last one, which has the remaining events of a thread.
    #expect(reported.last?.events == UInt64(threads) * 95 - 5)
  }

  @Test func secondPassRestartsProgress() throws {
    let reader = try trace(threads: 2)
    var reported: [ReadingPosition] = []
    reader.whileReading { reported.append($0) }
    for _ in 0..<3 { _ = CollectedEvents.of(reader) }
    let passes = Dictionary(grouping: reported, by: \.pass)
    #expect(passes.keys.sorted() == [0, 1, 2])
    for pass in 0..<3 {
      #expect(
        passes[pass]?.map(\.bytes) == passes[0]?.map(\.bytes) && passes[pass]?.map(\.events) == passes[0]?.map(\.events)
      )
    }
  }

  @Test func definitionsDoNotReportProgress() throws {
    var builder = TraceBuilder()
    _ = builder.type("main.Node")
    builder.event(.malloc, 16, size: 16, time: 80)
    let reader = try builder.reader()
    var reported = 0
    reader.whileReading { _ in reported += 1 }
    for (index, chunk) in reader.chunks.enumerated() where chunk.kind == .definitions {
      ChunkWalker(reader).definitions(inChunk: index) { _, _ in }
    }
    #expect(reported == 0)
  }
}
