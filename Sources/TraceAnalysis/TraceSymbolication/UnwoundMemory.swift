// The memory of a process, for unwinding in a child process that has no file descriptors.

import TraceReading

/// The source of a process's memory for unwinding in a child process.
package enum UnwoundMemory {
  /// The memory of a running process that this process may read.
  case process(Int32)
  /// Bytes in this process, in order of addresses, without overlaps.
  case kept([(range: Range<UInt64>, bytes: UnsafeRawPointer)])
}
