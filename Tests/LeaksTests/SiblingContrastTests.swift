// The line that freed objects passed, but survivors did not.

import Testing

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct SiblingContrastTests {
  private func frame(_ function: String, _ line: Int?, _ kind: SourceFrame.Kind = .user) -> SourceFrame {
    SourceFrame(
      function: function, fullFunction: function, mangledName: nil, imagePath: "app", file: "/s/Room.swift",
      line: line, column: nil, isInlined: false, kind: kind, isAsync: false, asyncPart: nil)
  }

  /// Returns the passage for objects with the stacks of their events after the allocation.
  private func passage(_ shapes: [(stacks: [UInt32], blocks: UInt64, isFreed: Bool)], _ stacks: [UInt32: [SourceFrame]])
    -> SiblingContrast.Passage?
  {
    SiblingContrast { stacks[$0.rawValue] ?? [] }.passage(
      shapes.map { shape in
        let steps = ([1] + shape.stacks).map {
          RetainHistory.Shape.Step(stack: StackID($0), count: 1, operation: .release)
        }
        return (RetainHistory.Shape(steps: steps), shape.blocks, shape.isFreed)
      })
  }

  private var stacks: [UInt32: [SourceFrame]] {
    [
      1: [frame("Room.open()", 3), frame("main", 90)],
      2: [frame("Dictionary.removeValue(forKey:)", nil, .systemLibrary), frame("Room.close()", 12), frame("main", 91)],
      3: [frame("Room.join()", 7), frame("main", 90)],
      4: [frame("Room.deinit", 20), frame("Room.close()", 13), frame("main", 91)],
    ]
  }

  @Test func innermostLineOfTheLastReleaseIsNamed() {
    let found = passage([([3, 2, 4], 30, true), ([3], 10, false)], stacks)
    #expect(found?.place.function == "Room.close()" && found?.place.line == 13)
    #expect(found?.passed == 30 && found?.freed == 30)
  }

  @Test func linePassedBySurvivorsTooIsNotNamed() {
    #expect(passage([([3, 2], 30, true), ([3, 2], 10, false)], stacks) == nil)
  }

  @Test func linePassedByHalfOfTheFreedObjectsIsNotNamed() {
    #expect(passage([([3, 2], 15, true), ([3], 15, true), ([3], 10, false)], stacks) == nil)
  }

  @Test func fewFreedObjectsNameNoLine() {
    #expect(passage([([3, 2], 3, true), ([3], 10, false)], stacks) == nil)
  }
}
