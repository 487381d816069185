// Names of threads in reports.

import PlatformRules
import TraceReading

/// Describes a thread of a trace: as the main thread, as a thread of libdispatch, or by the function of the program
/// where it started.
///
/// An inspection has the names that the program gives to threads, and the threads' stacks. In a recording, the stack of
/// any event of a thread shows where the thread started. For one thread at a time.
package struct ThreadNames {
  private let definitions: TraceDefinitions
  private let mainThread: UInt64
  private let stack: (UInt32) -> StackID?
  private let frames: (FrameKey) -> [SourceFrame]

  /// The number of outermost frames that are searched for the start of a thread. Foundation and libdispatch have about
  /// ten frames before the program's first function.
  private static let outermostFrames = 32

  /// - Parameters:
  ///   - mainThread: The kernel's number of the process's first thread.
  ///   - stack: Returns the stack of any event of a thread, given the trace's number for the thread; nil if there is
  ///     none.
  ///   - frames: Returns the functions of a frame, the innermost first.
  package init(
    _ definitions: TraceDefinitions, mainThread: UInt64, stack: @escaping (UInt32) -> StackID?,
    frames: @escaping (FrameKey) -> [SourceFrame]
  ) {
    (self.definitions, self.mainThread, self.stack, self.frames) = (definitions, mainThread, stack, frames)
  }

  /// Returns `the main thread`, `thread 4711 "pump"`, `thread 4711, started in Pump.run()`, `thread 4711 of
  /// libdispatch`, or `thread 4711`. Linear in the depth of the thread's stack.
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

  /// Returns the outermost frames of a thread, the outermost first. Empty if the stack is unknown or incomplete.
  private func outermost(ofThread number: UInt64) -> [FrameKey] {
    if let stack = definitions.threadStacks[number] {
      return stack.end == .complete ? stack.frames.suffix(Self.outermostFrames).reversed().map(\.key) : []
    }
    // The kernel may reuse a number: only the last thread with the number can still exist.
    guard let record = definitions.threads.last(where: { $0.osThread == number }),
      let stack = stack(record.thread)
    else { return [] }
    let path = definitions.stacks.path(of: stack)
    guard case .complete = path.end else { return [] }
    return path.frames.suffix(Self.outermostFrames).reversed().map(\.key)
  }

  /// Returns whether a function belongs to a thread pool. Threads of a pool serve any queue, so the program's first
  /// function on such a thread does not identify the thread.
  private static func isPool(_ frame: SourceFrame) -> Bool {
    frame.mangledName.map { poolFunctions.matches($0) } ?? false
  }

  private static let poolFunctions = RuleBook.shipped.table(.poolThread, by: .symbol)
}
