// The memory of a process, for unwinding in a child process that has no file descriptors.

import TraceReading

/// The source of a process's memory for unwinding in a child process.
package enum UnwoundMemory {
  /// The memory of a running process that this process may read.
  case process(Int32)
  /// Bytes in this process, in order of addresses, without overlaps.
  case kept([(range: Range<UInt64>, bytes: UnsafeRawPointer)])
  /// A function that copies bytes until the buffer is full. It returns `false` if any byte is unknown.
  ///
  /// It is called once before `fork`, and then in the child process. So it must not start threads or wait for other
  /// threads.
  case function((RuntimeAddress, UnsafeMutableRawBufferPointer) -> Bool)
}
