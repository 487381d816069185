// The stacks of a trace, identified by the names of their functions.

import Testing
import TraceTestSupport

@testable import RunDiff
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct StackNamerTests {
  /// Names each function by its address. Functions at odd addresses belong to the platform.
  private struct Naming: FrameNaming {
    var kind = SourceFrame.Kind.user
    var remarks: [String] { [] }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      let name = "f\(key.address.rawValue)()"
      return [
        SourceFrame(
          function: name, fullFunction: name, mangledName: "m\(key.address.rawValue)", imagePath: "/bin/app", file: nil,
          line: nil, column: nil, isInlined: false, kind: kind,
          isAsync: false, asyncPart: nil)
      ]
    }
  }

  private func definitions(_ calls: [[UInt64]]) throws -> (TraceDefinitions, [StackID]) {
    let reader = try TraceBuilder().reader()
    return (reader.definitions, calls.map { reader.definitions.stacks.stack($0) })
  }

  @Test func recursiveFunctionCountsOnceAtItsOutermostFrame() throws {
    let (definitions, stacks) = try definitions([[1, 2, 3], [1, 2, 3, 2, 3], [1, 2, 2, 2, 3], [1, 2]])
    for kind in [SourceFrame.Kind.user, .systemLibrary] {
      var namer = StackNamer(definitions, naming: Naming(kind: kind))
      let named = stacks.map { namer.stack($0).stack }
      #expect(named[0] == named[1] && named[0] == named[2] && named[3] != named[0])
      #expect(namer.nodes.count == 3)
    }
  }

  @Test(arguments: [SourceFrame.Kind.user, .systemLibrary])
  func recursionSearchIsLimitedByFileSize(kind: SourceFrame.Kind) throws {
    // All functions are different, so each one is compared with all its callers.
    let (definitions, stacks) = try definitions([Array(1...1000), Array(1...1000) + [1], Array(1...1000) + [1, 2]])
    var generous = StackNamer(definitions, naming: Naming(kind: kind), steps: 1_000_000)
    let folded = stacks.map { generous.stack($0).stack }
    #expect(Set(folded).count == 1 && (1..<1_000_000).contains(generous.spareSteps))
    var frugal = StackNamer(definitions, naming: Naming(kind: kind), steps: 1000)
    #expect(Set(stacks.map { frugal.stack($0).stack }).count == 3)
    #expect(frugal.spareSteps == 0 && frugal.nodes.count == 1002)
  }
}
