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
  /// the steps of the shapes, and in the frames of their stacks.
  func passage(_ shapes: [(shape: RetainHistory.Shape, blocks: UInt64, isFreed: Bool)]) -> Passage? {
    let freed = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 &+ $1.blocks : $0 }
    let live = shapes.reduce(UInt64(0)) { $1.isFreed ? $0 : $0 &+ $1.blocks }
    guard freed >= Self.minFreed, live > 0 else { return nil }
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
      Double(tally.freed) >= Self.minShare * Double(freed)
        && Double(tally.live) <= Self.maxShareOfSurvivors * Double(live)
    }
    let best = telling.min { a, b in
      let (first, second) = (a.value, b.value)
      return (second.freed, first.distance, second.position, a.key.file, a.key.line, a.key.function)
        < (first.freed, second.distance, first.position, b.key.file, b.key.line, b.key.function)
    }
    return best.map { Passage(place: $0.value.place, passed: $0.value.freed, freed: freed) }
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
