// A block that was freed, with its allocation, its free, and later uses.

/// A freed block, with the events of its life that the trace shows.
package struct EndedBlock: Hashable, Sendable {
  /// An event of the block.
  package struct Moment: Hashable, Sendable {
    package var operation: Operation
    package var stack: StackID
    /// Ticks.
    package var time: UInt64
    /// The thread's number in the trace, from 1.
    package var thread: UInt32

    init(_ event: TraceEvent) {
      operation = event.operation
      stack = event.stack
      time = event.time
      thread = event.thread
    }
  }

  package var address: UInt64
  /// Requested bytes.
  package var size: UInt64
  /// Type ID of a Swift object; otherwise 0.
  package var type: UInt32
  package var allocated: Moment
  package var freed: Moment
  /// The first retain or release of the block after its free.
  package var used: Moment?
  /// The number of retains and releases after the free.
  package var uses: UInt64 = 0

  /// Returns whether both are the same block; ignores their uses.
  package func isSame(as other: EndedBlock) -> Bool {
    address == other.address && allocated == other.allocated && freed == other.freed
  }
}
