// The line that freed objects passed on their way to the end, and survivors did not.

import TraceReading
import TraceSymbolication

/// Compares the histories of freed objects with the histories of survivors.
///
/// An object passed a line of the program's if the line is on the stack of a retain, a release or the free of the object.
/// The program lets go of its objects at the line that nearly all freed objects passed, and hardly any survivor.
struct SiblingContrast {
  /// A line that lets objects go.
  struct Passage: Hashable {
    var place: SourceFrame
    /// The freed objects that passed it.
    var passed: UInt64
    var freed: UInt64
  }

  /// Fewer freed objects say little.
  private static let leastFreed: UInt64 = 4
  /// Part of the freed objects that a line must have.
  private static let leastShare = 0.75
  /// Part of the survivors that may have it as well.
  private static let greatestShareOfSurvivors = 0.05
  /// Distinct stacks that are named, at most. Each needs names for its frames.
  private static let stackLimit = 4_096

  private struct Line: Hashable {
    var function: String
    var file: String
    var line: Int
  }

  private struct Tally {
    var freed: UInt64 = 0
    var live: UInt64 = 0
    /// Frames of the program's between the line and the event, the least of all.
    var distance = Int.max
    /// Events of the history before it, the most of all.
    var position = 0
    var place: SourceFrame
  }

  private let frames: (StackID) -> [SourceFrame]

  /// - Parameter frames: the frames of a stack, innermost first.
  init(frames: @escaping (StackID) -> [SourceFrame]) { self.frames = frames }

  /// Returns the line; nil if no line tells freed objects from survivors. Linear in the steps of the shapes, and in the
  /// frames of their stacks.
  func passage(_ shapes: [(shape: RetainHistory.Shape, blocks: UInt64, isFreed: Bool)]) -> Passage? {
    let freed = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 &+ $1.blocks : $0 }
    let live = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 : $0 &+ $1.blocks }
    guard freed >= Self.leastFreed, live > 0 else { return nil }
    var stacks: Set<StackID> = []
    for entry in shapes { stacks.formUnion(entry.shape.steps.dropFirst().map(\.stack)) }
    guard stacks.count <= Self.stackLimit else { return nil }
    var lines: [StackID: [(line: Line, place: SourceFrame)]] = [:]
    for stack in stacks { lines[stack] = Self.lines(of: frames(stack)) }
    var tallies: [Line: Tally] = [:]
    for entry in shapes {
      var seen: Set<Line> = []
      for (position, step) in entry.shape.steps.enumerated().dropFirst() {
        for (distance, found) in (lines[step.stack] ?? []).enumerated() {
          var tally = tallies[found.line] ?? Tally(place: found.place)
          if seen.insert(found.line).inserted {
            if entry.isFreed { tally.freed &+= entry.blocks } else { tally.live &+= entry.blocks }
          }
          if entry.isFreed {
            tally.distance = min(tally.distance, distance)
            tally.position = max(tally.position, position)
          }
          tallies[found.line] = tally
        }
      }
    }
    let telling = tallies.filter { _, tally in
      Double(tally.freed) >= Self.leastShare * Double(freed)
        && Double(tally.live) <= Self.greatestShareOfSurvivors * Double(live)
    }
    let best = telling.min { a, b in
      let (first, second) = (a.value, b.value)
      return (second.freed, first.distance, second.position, a.key.file, a.key.line, a.key.function)
        < (first.freed, second.distance, first.position, b.key.file, b.key.line, b.key.function)
    }
    return best.map { Passage(place: $0.value.place, passed: $0.value.freed, freed: freed) }
  }

  /// The program's lines of a stack, innermost first. The end of an object runs code of its own, which is no cause.
  private static func lines(of frames: [SourceFrame]) -> [(line: Line, place: SourceFrame)] {
    frames.compactMap { frame in
      guard frame.kind == .user, let file = frame.file, let line = frame.line, line > 0,
        !frame.function.hasSuffix("deinit")
      else { return nil }
      return (Line(function: frame.function, file: file, line: line), frame)
    }
  }
}
