// A process's memory for somebody who has no descriptors.

/// Where unwinding finds a process's memory: in a child process of this one.
package enum UnwoundMemory {
  /// A process that is there, and that may be read.
  case process(Int32)
  /// Bytes that this process has, in order of addresses, without overlaps.
  case kept([(range: Range<UInt64>, bytes: UnsafeRawPointer)])
}
