// The threads of an inspected process: the stack of each thread when the process was copied, with names.

import TraceReading
import TraceSymbolication

/// A thread of an inspection.
package struct ReportThread: Hashable, Sendable {
  package var stack: ThreadStack
  /// True if this is the process's first thread.
  package var isMain: Bool
  /// The name that the program gave the thread; empty if the thread has none, or only the process's name.
  package var name: String
  /// The frames of the stack, innermost first. Inlined frames are separate.
  package var frames: [ReportFrame]

  package init(stack: ThreadStack, isMain: Bool, name: String, frames: [ReportFrame]) {
    self.stack = stack
    self.isMain = isMain
    self.name = name
    self.frames = frames
  }

  /// Index of the program's innermost frame; nil if no frame is the program's.
  package var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }

  /// Returns the threads of an inspection, the main thread first and the others by number; none for other traces.
  /// O(frames).
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
