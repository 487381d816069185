// Traces that lack calls: it is unknown which blocks were freed or allocated in the gap.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct GapTests {
  private typealias Heap = HeapBuilder

  private func nodes() -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [Heap.field("other", 0), Heap.field("target", 1, .unmanaged)])
    return heap
  }

  @Test func objectsPossiblyFreedDuringAPauseAreCountedNotReported() throws {
    let heap = nodes()
    let freed = (0..<3).map { _ in heap.object("App.Node") }
    _ = heap.malloc(100)
    heap.pause { for object in freed { heap.overwriteAsFreed(object) } }
    let analysis = try heap.analysis()
    #expect(analysis.findings().isEmpty)
    #expect(analysis.finder.unknownBlocks.count == 4 && analysis.finder.unknownBlocks.bytes == 3 * 48 + 100)
    #expect(
      analysis.remarks.contains { $0.contains("recording was paused") }
        && analysis.remarks.contains { $0.contains("4 blocks (244 B)") })
  }

  @Test func intactObjectOlderThanThePauseIsReported() throws {
    let heap = nodes()
    let (a, b) = (heap.object("App.Node"), heap.object("App.Node"))
    heap.set(a, 0, b)
    heap.set(b, 0, a)
    heap.pause()
    let finding = try #require(try heap.findings().first)
    #expect(finding.verdict == .retainCycle && finding.instances == 1)
  }

  @Test func objectInDeinitMayHaveBeenFreedDuringThePause() throws {
    let heap = nodes()
    _ = heap.object("App.Node", count: 1 << 32 | 3)
    heap.pause()
    #expect(try heap.findings().isEmpty)
  }

  @Test func objectsMadeAfterThePauseAreJudgedAsUsual() throws {
    let heap = nodes()
    heap.pause()
    _ = heap.object("App.Node")
    _ = heap.malloc(64, stack: [0x1000_1010])
    #expect(try heap.findings().map(\.verdict) == [.lost, .lost])
  }

  @Test func unrecordedBlockHoldsItsReferents() throws {
    for isPaused in [true, false] {
      let heap = nodes()
      var unseen: HeapBuilder.Object?
      if isPaused { heap.pause { unseen = heap.malloc(64) } } else { unseen = heap.malloc(64) }
      let kept = heap.object("App.Node")
      let buffer = try #require(unseen)
      heap.words[buffer.address + 8] = kept.address
      heap.global(buffer)
      #expect(try heap.findings().isEmpty)
      let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 1)
      #expect(answer.groups.first?.origin.kind == (isPaused ? .mapping : .global))
    }
  }

  @Test func unrecordedBlockHoldsItsReferentsOnlyIfReachable() throws {
    for isReached in [true, false] {
      let heap = nodes()
      // In the gap, the memory of the first block, the second block and the memory after it may have become one new
      // block.
      let (block, next) = (
        heap.block(.malloc, at: 0x5080_0000_0000, size: 64), heap.block(.malloc, at: 0x5080_0000_0050, size: 64)
      )
      heap.pause()
      let kept = heap.object("App.Node")
      heap.words[next.address + 8] = kept.address
      if isReached { heap.global(block) }
      #expect(try heap.findings().isEmpty == isReached)
    }
  }

  @Test func blockOverUnrecordedFreesIsReadWhole() throws {
    let heap = nodes()
    let freed = (0..<4).map { heap.block(.malloc, at: 0x5080_0000_0000 + UInt64($0) * 64, size: 48) }
    heap.pause()
    let buffer = heap.block(.malloc, at: freed[0].address - 64, size: 1024)
    heap.global(buffer)
    for index in 0..<4 {
      let kept = heap.object("App.Node")
      heap.words[freed[index].address + 16] = kept.address
    }
    let analysis = try heap.analysis()
    #expect(analysis.findings().isEmpty && analysis.graph.blockCount == 5)
  }

  @Test func staleWordsOfFreedMemoryHoldNothing() throws {
    let heap = nodes()
    let freed = heap.malloc(4096)
    heap.pause()
    let (a, b) = (heap.object("App.Node"), heap.object("App.Node"))
    heap.set(a, 0, b)
    heap.set(b, 0, a)
    heap.words[freed.address + 64] = a.address
    heap.words[0x50FF_0000_0000] = b.address
    #expect(try heap.findings().map(\.verdict) == [.retainCycle])
  }

  @Test func referenceCertainlyDanglesOnlyIfItsTargetWasFreedAfterThePause() throws {
    for freedAfter in [true, false] {
      let heap = nodes()
      let (holder, target, last) = (heap.object("App.Node"), heap.object("App.Node"), heap.object("App.Node"))
      heap.set(holder, 1, target)
      heap.global(holder)
      heap.global(last)
      if !freedAfter { heap.free(target) }
      heap.pause()
      if freedAfter { heap.free(target) }
      #expect(try heap.findings().map(\.verdict) == (freedAfter ? [.dangling] : []))
    }
  }

  @Test func siblingsPossiblyFreedDuringAPauseGiveNoEvidence() throws {
    for isPaused in [true, false] {
      let server = RequestServer()
      let sessions = server.requests(300) { _ in true }
      if isPaused {
        server.heap.pause { server.heap.overwriteAsFreed(sessions[7]) }
        server.heap.visit(server.outer)
      }
      #expect(try server.findings().isEmpty == isPaused)
    }
  }

  @Test func expectationOfAPossiblyFreedObjectIsUndecided() throws {
    for isPaused in [true, false] {
      let server = RequestServer()
      let session = server.heap.object("App.Session", stack: server.inner)
      server.put(session)
      server.heap.time += 8
      var mark = TraceMark(.expectation, time: server.heap.time)
      (mark.number, mark.name, mark.file, mark.line) = (
        1, server.heap.trace.marks.intern("done"), server.heap.trace.marks.intern("App/Shop.swift"), 3
      )
      (mark.address, mark.deadline) = (session.address, server.heap.time + 80)
      server.heap.trace.mark(mark)
      server.heap.time += 800
      if isPaused { server.heap.pause { server.heap.overwriteAsFreed(session) } }
      server.heap.visit(server.outer)
      let analysis = try server.heap.analysis(RequestServer.functions)
      let outcome = try #require(analysis.model.statements.expectations.first)
      #expect(outcome.violated == (isPaused ? 0 : 1) && outcome.unknown == (isPaused ? 1 : 0))
      #expect(analysis.findings().isEmpty == isPaused)
    }
  }

  @Test func droppedCallsLeaveOnlyProvenFindings() throws {
    let heap = nodes()
    _ = heap.malloc(64)
    _ = heap.object("App.Node")
    let findings = try heap.findings()
    #expect(findings.count == 2)
    var drops = DropCounts()
    drops.counts[DropCounts.Reason.nested.rawValue] = 1
    heap.trace.closing = TraceClosing(time: heap.time + 800, eventCount: 2)
    heap.trace.closing?.drops = drops
    // The image itself proves that the object is lost.
    let analysis = try heap.analysis()
    #expect(analysis.findings().map { $0.path.first?.kind } == [.object])
    #expect(analysis.remarks.contains { $0.contains("calls were dropped") })
  }

  @Test func traceThatStartedPausedTreatsEarlierMemoryAsUnknown() throws {
    let heap = nodes()
    heap.trace.header.options = 2
    let kept = heap.object("App.Node")
    heap.words[0x50FF_0000_0000] = kept.address
    heap.words[heap.global(kept)] = 0x50FF_0000_0000
    _ = heap.object("App.Node", stack: [0x1000_1010])
    let analysis = try heap.analysis()
    #expect(
      analysis.findings().map(\.instances) == [1] && analysis.remarks.contains { $0.contains("recording was paused") })
  }

  /// The flags are set for the parent of a fork, and for a process that was running when its recording began.
  @Test(arguments: [4, 8] as [UInt64]) func memoryFromBeforeTheRecordingMayHoldObjects(flag: UInt64) throws {
    for hasMemoryFromBefore in [true, false] {
      let heap = nodes()
      if hasMemoryFromBefore {
        heap.trace.definitions.append(.process(ProcessRecord(executable: "/bin/app", flags: flag)))
      }
      let kept = heap.object("App.Node")
      heap.words[0x50FF_0000_0000] = kept.address
      heap.words[heap.global(kept)] = 0x50FF_0000_0000
      _ = heap.object("App.Node", stack: [0x1000_1010])
      // An address in the heap's region may belong to a block from before the recording.
      #expect(try heap.findings().reduce(0) { $0 + $1.instances } == (hasMemoryFromBefore ? 1 : 2))
    }
  }
}
