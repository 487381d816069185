// One event of a trace, decoded.

/// An event. A plain value of numbers, so that a decoder can fill one over and over without allocating.
package struct TraceEvent: Hashable, Sendable {
  /// In ticks of the trace's clock; `TraceClock` converts them to seconds.
  package var time: UInt64
  /// The block's address; never a pointer into it.
  package var address: UInt64
  /// Requested bytes, or the count of an operation on several references. 0 for operations without operands.
  package var size: UInt64
  /// A number of the running task, unique among the tasks of its time; 0 outside of tasks, and if stacks are not
  /// recorded.
  package var task: UInt64
  /// In the trace's `StackTree`; `.unknown` for operations outside the reader's selection of stacks. Never unknown if
  /// `isStackNew`.
  package var stack: StackID
  /// Type ID, for `Operation.object`; otherwise 0.
  package var type: UInt32
  /// The thread's number in this trace, from 1.
  package var thread: UInt32
  /// Index into the trace's chunks.
  package var chunk: UInt32
  /// The beginning of its record in the chunk's decompressed payload.
  package var payloadOffset: UInt32
  /// Frames of the thread's stack now.
  package var depth: UInt32
  /// The number of outermost frames that have been there since the thread's event before this one. Meaningless if
  /// `isStackNew`.
  package var keptDepth: UInt32
  package var operation: Operation
  /// A chunk begins, or another task runs: nothing relates this stack to the previous one.
  package var isStackNew: Bool

  package init(
    operation: Operation = Operation(rawValue: 0), address: UInt64 = 0, size: UInt64 = 0, type: UInt32 = 0,
    stack: StackID = .empty, time: UInt64 = 0, thread: UInt32 = 0
  ) {
    self.operation = operation
    self.address = address
    self.size = size
    self.type = type
    self.stack = stack
    self.time = time
    self.thread = thread
    task = 0
    depth = 0
    keptDepth = 0
    isStackNew = false
    chunk = 0
    payloadOffset = 0
  }

  /// The number of references it adds or takes: 1 except for the `_n` operations.
  @inline(__always)
  package var referenceCount: UInt64 { operation.hasCount ? size : 1 }
}
