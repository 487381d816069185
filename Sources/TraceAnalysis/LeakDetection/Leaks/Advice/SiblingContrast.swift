// Finds the line that freed objects passed before they ended, and that survivors did not pass.

import TraceReading
import TraceSymbolication

/// Compares the histories of freed objects with the histories of survivors.
///
/// An object passed a line of the program if the line is on the stack of a retain, a release or the free of the object.
/// If nearly all freed objects and hardly any survivors passed a line, the program releases its objects there.
struct SiblingContrast {
  /// A line that releases objects.
  struct Passage: Hashable {
    var place: SourceFrame
    /// The number of freed objects that passed the line.
    var passed: UInt64
    var freed: UInt64
  }

  /// Minimum number of freed objects. With fewer objects, the contrast proves little.
  private static let minFreed: UInt64 = 4
  /// Minimum share of the freed objects that passed the line.
  private static let minShare = 0.75
  /// Maximum share of the survivors that passed the line.
  private static let maxShareOfSurvivors = 0.05
  /// Maximum number of distinct stacks, since the frames of each stack must be named.
  private static let stackLimit = 4_096

  private struct Line: Hashable {
    var function: String
    var file: String
    var line: Int
  }

  private struct Tally {
    var freed: UInt64 = 0
    var live: UInt64 = 0
    /// Minimum number of the program's frames between the line and the event.
    var distance = Int.max
    /// Maximum number of events in a history before an event with the line.
    var position = 0
    var place: SourceFrame
  }

  private let frames: (StackID) -> [SourceFrame]

  /// - Parameter frames: the frames of a stack, innermost first.
  init(frames: @escaping (StackID) -> [SourceFrame]) { self.frames = frames }

  /// Returns the line that releases the objects; nil if no line distinguishes freed objects from survivors. Linear in
  /// the steps of the shapes, and in the frames of the distinct stacks of each shape.
  func passage(_ shapes: [(shape: RetainHistory.Shape, blocks: UInt64, isFreed: Bool)]) -> Passage? {
    let freed = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 &+ $1.blocks : $0 }
    let live = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 : $0 &+ $1.blocks }
    guard freed >= Self.minFreed, live > 0 else { return nil }
    var stacks: [StackID: Int] = [:]
    for entry in shapes {
      for step in entry.shape.steps.dropFirst() where stacks[step.stack] == nil { stacks[step.stack] = stacks.count }
      guard stacks.count <= Self.stackLimit else { return nil }
    }
    // Lines and stacks have numbers: a family may have a million steps on deep stacks.
    var numbers: [Line: Int] = [:]
    var tallies: [(line: Line, tally: Tally)] = []
    var lines = [[Int]](repeating: [], count: stacks.count)
    for (stack, index) in stacks.sorted(by: { $0.value < $1.value }) {
      lines[index] = Self.lines(of: frames(stack)).map { line, place in
        if let known = numbers[line] { return known }
        numbers[line] = tallies.count
        tallies.append((line, Tally(place: place)))
        return tallies.count - 1
      }
    }
    var seen = [Int](repeating: -1, count: tallies.count)
    var visited = [Int](repeating: -1, count: stacks.count)
    for (number, entry) in shapes.enumerated() {
      // The last event with a stack decides, so the events are read backwards, and each stack once.
      let steps = entry.shape.steps
      for position in stride(from: steps.count - 1, to: 0, by: -1) {
        guard let stack = stacks[steps[position].stack], visited[stack] != number else { continue }
        visited[stack] = number
        for (distance, line) in lines[stack].enumerated() {
          if seen[line] != number {
            seen[line] = number
            if entry.isFreed {
              tallies[line].tally.freed &+= entry.blocks
            } else {
              tallies[line].tally.live &+= entry.blocks
            }
          }
          guard entry.isFreed else { continue }
          tallies[line].tally.distance = min(tallies[line].tally.distance, distance)
          tallies[line].tally.position = max(tallies[line].tally.position, position)
        }
      }
    }
    let telling = tallies.filter { _, tally in
      Double(tally.freed) >= Self.minShare * Double(freed)
        && Double(tally.live) <= Self.maxShareOfSurvivors * Double(live)
    }
    let best = telling.min { a, b in
      let (first, second) = (a.tally, b.tally)
      return (second.freed, first.distance, second.position, a.line.file, a.line.line, a.line.function)
        < (first.freed, second.distance, first.position, b.line.file, b.line.line, b.line.function)
    }
    return best.map { Passage(place: $0.tally.place, passed: $0.tally.freed, freed: freed) }
  }

  /// Returns the program's lines on a stack, innermost first. Leaves out lines of a `deinit`: they run because the
  /// object ends.
  private static func lines(of frames: [SourceFrame]) -> [(line: Line, place: SourceFrame)] {
    frames.compactMap { frame in
      guard frame.kind == .user, let file = frame.file, let line = frame.line, line > 0,
        !frame.function.hasSuffix("deinit")
      else { return nil }
      return (Line(function: frame.function, file: file, line: line), frame)
    }
  }
}
