// One decoded event of a trace.

/// An event. It consists only of numbers, so a decoder can fill the same value repeatedly without allocating.
package struct TraceEvent: Hashable, Sendable {
  /// In ticks of the trace's clock; `TraceClock` converts them to seconds.
  package var time: UInt64
  /// The address where the block begins, never an address inside the block.
  package var address: UInt64
  /// Requested bytes, or the count of an operation on several references. 0 for operations without operands.
  package var size: UInt64
  /// The running task: a number that no other task has at the same time. 0 outside of tasks, and if stacks are not
  /// recorded.
  package var task: UInt64
  /// The stack in the trace's `StackTree`; `.unknown` if the reader's selection of stacks does not include the event.
  package var stack: StackID
  /// Type ID, for `Operation.object`; otherwise 0.
  package var type: UInt32
  /// The thread's number in this trace, from 1.
  package var thread: UInt32
  /// The index of the event's chunk in the trace's chunks.
  package var chunk: UInt32
  /// The offset of the event's record in the chunk's decompressed payload.
  package var payloadOffset: UInt32
  /// The number of frames of the thread's stack at this event.
  package var depth: UInt32
  /// The number of outermost frames that have not returned since the thread's previous event. Meaningless if
  /// `isStackNew`.
  var keptDepth: UInt32
  package var operation: Operation
  /// True if a chunk begins or another task runs, so that this stack is unrelated to the previous one.
  var isStackNew: Bool

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

  /// The number of references that the event adds or removes: 1 except for the `_n` operations.
  @inline(__always)
  package var referenceCount: UInt64 { operation.hasCount ? size : 1 }
}
