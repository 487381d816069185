import Testing
import TraceTestSupport

@testable import PageReports
@testable import TraceExports
@testable import TraceReading

struct FlameTreeTests {
  /// Returns the profile of `count` functions that `main` calls. Each allocates once, as many bytes as its number.
  private func profile(_ count: UInt64) throws -> StackProfile {
    var trace = TraceBuilder()
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x80_0000, bias: 0x40_0000)
    var naming = TableNaming()
    naming.add(0x40_0000, "main")
    for index in 1...count {
      naming.add(0x40_0000 + index * 16, "f\(index)")
      let stack = trace.stack([0x40_0000, 0x40_0000 + index * 16])
      trace.event(.malloc, 0x1000_0000 + index * 0x1_0000, size: index, stack: stack, time: index)
    }
    trace.closing = TraceClosing(reason: .exit, waitStatus: 0, time: count + 1, eventCount: count)
    return StackProfile(
      AllocationAnalysis(try trace.reader()), path: "a", leaked: nil, frameLimit: .max, naming: naming)
  }

  private func sum(_ tree: FlameTree, _ measure: ProfileMeasure) throws -> UInt64 {
    let index = try #require(tree.measures.firstIndex(of: measure))
    return tree.nodes.reduce(0) { $0 + $1.own[index] }
  }

  @Test func stacksAreJoinedFromTheOutermostFrame() throws {
    let tree = FlameTree(try profile(10))
    // The nodes are main, ten functions, and one allocation of each function.
    #expect(tree.nodes.count == 21 && tree.omittedCount == 0)
    #expect(tree.nodes.count { $0.parent < 0 } == 1)
    #expect(tree.nodes.indices.allSatisfy { tree.nodes[$0].parent < $0 })
    #expect(try sum(tree, .liveBytes) == 55)
    #expect(tree.frames[tree.nodes[0].subject].name == "main")
  }

  @Test(arguments: [4, 50, 500]) func smallFramesAreMergedWithoutLosingFigures(limit: Int) throws {
    let whole = FlameTree(try profile(1_000))
    let tree = FlameTree(try profile(1_000), limit: limit)
    // Each remaining node may have one child for its omitted nodes.
    #expect(tree.nodes.count <= 2 * limit && tree.omittedCount > 0)
    #expect(tree.nodes.indices.allSatisfy { tree.nodes[$0].parent < $0 })
    for measure in whole.measures { #expect(try sum(tree, measure) == sum(whole, measure)) }
    #expect(tree.nodes.contains { tree.frames[$0.subject].kind == .omitted })
  }
}
