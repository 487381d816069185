// A block that was freed, with what led there and what came after.

/// A freed block, as the trace shows its life.
public struct EndedBlock: Hashable, Sendable {
  /// Something that happened to it.
  public struct Moment: Hashable, Sendable {
    public var operation: Operation
    public var stack: StackID
    /// Ticks.
    public var time: UInt64
    /// The trace's number for it, from 1.
    public var thread: UInt32

    init(_ event: TraceEvent) {
      operation = event.operation
      stack = event.stack
      time = event.time
      thread = event.thread
    }
  }

  public var address: UInt64
  /// Bytes asked for.
  public var size: UInt64
  /// Type ID of a Swift object; otherwise 0.
  public var type: UInt32
  public var allocated: Moment
  public var freed: Moment
  /// The first time that a reference to it was counted after the free.
  public var used: Moment?
  /// How often that happened.
  public var uses: UInt64 = 0

  /// Whether both are one block, whatever is known of its uses.
  func isSame(as other: EndedBlock) -> Bool { address == other.address && allocated == other.allocated && freed == other.freed }
}
