// One event of a trace, decoded.

/// An event. A plain value of numbers, so that a decoder can fill one over and over without allocating.
public struct TraceEvent: Hashable, Sendable {
  /// In ticks of the trace's clock; to be turned into seconds by `TraceClock`.
  public var time: UInt64
  /// The block's address; never a pointer into it.
  public var address: UInt64
  /// Bytes asked for, or the count of an operation on several references. 0 for operations without operands.
  public var size: UInt64
  /// What tells the task that ran from other tasks of its time; 0 outside of tasks, and where stacks are not recorded.
  public var task: UInt64
  /// In the trace's `StackTree`; `.unknown` for operations whose stacks the reader was not asked for. Where `isStackNew`, never unknown.
  public var stack: StackID
  /// Type ID, for `Operation.object`; otherwise 0.
  public var type: UInt32
  /// The thread's number in this trace, from 1.
  public var thread: UInt32
  /// Index into the trace's chunks.
  public var chunk: UInt32
  /// Where its record begins in the chunk's decompressed payload.
  public var payloadOffset: UInt32
  /// Frames of the thread's stack now.
  public var depth: UInt32
  /// How many of the outermost frames have been there since the thread's event before this one. Of no meaning where `isStackNew`.
  public var keptDepth: UInt32
  public var operation: Operation
  /// A chunk begins, or another task runs: nothing ties this stack to the one before.
  public var isStackNew: Bool

  public init(
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

  /// How many references it adds or takes: 1 but for the `_n` operations.
  @inline(__always)
  public var referenceCount: UInt64 { operation.hasCount ? size : 1 }
}
