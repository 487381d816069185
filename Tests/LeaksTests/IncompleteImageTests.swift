// Incomplete heap images: an object's holder may be in the missing part.

import Testing
import TextWriting
import TraceTestSupport

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct IncompleteImageTests {
  private typealias Heap = HeapBuilder

  /// Makes a heap with a cycle, a lost object, a task that nothing can resume, and a dangling reference.
  private func heap() -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [Heap.field("other", 0)])
    heap.type("App.Owner", fields: [Heap.field("target", 0, .unmanaged)])
    let (a, b) = (heap.object("App.Node"), heap.object("App.Node"))
    heap.set(a, 0, b)
    heap.set(b, 0, a)
    _ = heap.object("App.Node", stack: [0x1000_1010])
    heap.words[heap.malloc(512, stack: [0x1000_1020]).address] = HeapBuilder.taskMetadata
    let (owner, target) = (heap.object("App.Owner"), heap.object("App.Node"))
    heap.set(owner, 0, target)
    heap.global(owner)
    let last = heap.object("App.Node")
    heap.global(last)
    heap.free(target)
    return heap
  }

  @Test func wholeImageShowsAllVerdicts() throws {
    #expect(Set(try heap().findings().map(\.verdict)) == [.retainCycle, .lost, .suspended, .dangling])
  }

  @Test func incompleteImageReportsNothingAsUnreachable() throws {
    for end in [nil, TraceSnapshot.End(error: 28), TraceSnapshot.End(error: 12)] {
      let heap = heap()
      heap.snapshotEnd = end
      let analysis = try heap.analysis()
      #expect(analysis.findings().map(\.verdict) == [.dangling])
      let remark = try #require(analysis.remarks.first)
      #expect(remark.contains("incomplete") && remark.contains("not reported") && remark.contains("--snapshot"))
      if let code = end?.error { #expect(remark.contains(systemErrorText(code))) }
      let answer = analysis.explain(.type(NamePattern("Node")), limit: 5)
      #expect(answer.groups.allSatisfy { !$0.origin.name.contains("it is leaked") })
    }
  }
}
