// A process's memory, for unwinding in a child process without descriptors.

/// The source of a process's memory for unwinding in a child process.
package enum UnwoundMemory {
  /// An existing process that may be read.
  case process(Int32)
  /// Bytes in this process, in order of addresses, without overlaps.
  case kept([(range: Range<UInt64>, bytes: UnsafeRawPointer)])
}
