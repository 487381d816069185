// Where the threads of an inspected process stood, with names.

import TraceReading
import TraceSymbolication

/// A thread of an inspection.
package struct ReportThread: Hashable, Sendable {
  package var stack: ThreadStack
  /// The process began with it.
  package var isMain: Bool
  /// The program gave it a name of its own; empty if it has the process's, or none.
  package var name: String
  /// Innermost first, inlined ones apart.
  package var frames: [ReportFrame]

  package init(stack: ThreadStack, isMain: Bool, name: String, frames: [ReportFrame]) {
    self.stack = stack
    self.isMain = isMain
    self.name = name
    self.frames = frames
  }

  /// Index of the innermost frame that is the program's own; nil if there is none.
  package var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }

  /// The threads of a trace, the main one first, then by number; none unless it is of an inspection. O(frames)
  static func threads(_ analysis: AllocationAnalysis, naming: any FrameNaming) -> [ReportThread] {
    let definitions = analysis.definitions
    let main = UInt64(analysis.header.processID)
    let stacks = definitions.threadStacks.values.sorted {
      ($0.osThread == main ? 0 : 1, $0.osThread) < ($1.osThread == main ? 0 : 1, $1.osThread)
    }
    return stacks.map { stack in
      ReportThread(
        stack: stack, isMain: stack.osThread == main, name: definitions.ownName(of: stack, mainThread: main),
        frames: stack.frames.flatMap { frame in
          naming.frames(for: frame.key, in: definitions.image(at: frame.key.lookupAddress)).map {
            ReportFrame(address: frame.key.address, source: $0)
          }
        })
    }
  }
}
