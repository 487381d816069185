// Names for threads.

import PlatformRules
import TraceReading

/// Describes a thread of a trace: the main thread, a thread of libdispatch, or a thread by the program's function where
/// it started.
///
/// An inspection has the names that programs give to threads, and their stacks. A recording shows where a thread
/// started by the stack of one of its events. For one thread at a time.
package struct ThreadNames {
  private let definitions: TraceDefinitions
  private let mainThread: UInt64
  private let stack: (UInt32) -> StackID?
  private let frames: (FrameKey) -> [SourceFrame]

  /// The outermost frames that are searched for a thread's beginning. Foundation and libdispatch put about ten before
  /// the program's first function.
  private static let outermostFrames = 32

  /// - Parameters:
  ///   - mainThread: The kernel's number of the thread that the process began with.
  ///   - stack: The stack of any event of a thread, by the trace's number for it; nil if there is none.
  ///   - frames: The functions of a frame, the innermost first.
  package init(
    _ definitions: TraceDefinitions, mainThread: UInt64, stack: @escaping (UInt32) -> StackID?,
    frames: @escaping (FrameKey) -> [SourceFrame]
  ) {
    (self.definitions, self.mainThread, self.stack, self.frames) = (definitions, mainThread, stack, frames)
  }

  /// `the main thread`, `thread 4711 "pump"`, `thread 4711, started in Pump.run()`, `thread 4711 of libdispatch`, or
  /// `thread 4711`. Linear in the depth of its stack.
  package func name(ofThread number: UInt64) -> String {
    if number == mainThread { return "the main thread" }
    if let stack = definitions.threadStacks[number] {
      let name = definitions.ownName(of: stack, mainThread: mainThread)
      if !name.isEmpty { return "thread \(number) \"\(name)\"" }
    }
    for frame in outermost(ofThread: number) {
      for function in frames(frame).reversed() {
        if Self.isPool(function) { return "thread \(number) of libdispatch" }
        if function.kind == .user { return "thread \(number), started in \(function.function)" }
      }
    }
    return "thread \(number)"
  }

  /// The outermost first.
  private func outermost(ofThread number: UInt64) -> [FrameKey] {
    if let stack = definitions.threadStacks[number] {
      return stack.end == .complete ? stack.frames.suffix(Self.outermostFrames).reversed().map(\.key) : []
    }
    // If several threads had the number one after the other, the last one still exists.
    guard let record = definitions.threads.last(where: { $0.osThread == number }),
      let stack = stack(record.thread)
    else { return [] }
    let path = definitions.stacks.path(of: stack)
    guard case .complete = path.end else { return [] }
    return path.frames.suffix(Self.outermostFrames).reversed().map(\.key)
  }

  /// A pool's threads serve any queue: the first function that a pool's thread runs does not identify it.
  private static func isPool(_ frame: SourceFrame) -> Bool {
    frame.mangledName.map { poolFunctions.matches($0) } ?? false
  }

  private static let poolFunctions = RuleBook.shipped.table(.poolThread, by: .symbol)
}
