// Heap profiles of a process that is recorded with samples, for its own routes.

import CLeakTrace

extension LeakTrace {
  /// A heap profile of this process as `go tool pprof`, Pyroscope and Parca read it: the bytes of a `.pb.gz` file with
  /// Go's sample types, of which `inuse_space` is shown at first. A server can answer `/debug/pprof/heap` with it.
  ///
  /// Figures are estimates from the samples that a light recording takes (`leaktrace record --light`, or
  /// `LEAKTRACE_MODE=light`).
  ///
  /// By any thread. Blocks the thread for some milliseconds, and longer the first time and after new functions came,
  /// while a copy of the process looks for their names: call it where a thread may block, one caller at a time; others
  /// wait.
  /// - Returns: nil if no recording takes samples in this process, or the profile cannot be made.
  public static func heapProfile() -> [UInt8]? {
    guard cleaktrace_is_present() else { return nil }
    var profile: [UInt8]?
    withUnsafeMutablePointer(to: &profile) { result in
      _ = cleaktrace_heap_profile(
        { context, bytes, size in
          context!.assumingMemoryBound(to: [UInt8]?.self).pointee = Array(
            UnsafeBufferPointer(start: bytes, count: size))
        }, result)
    }
    return profile
  }
}
