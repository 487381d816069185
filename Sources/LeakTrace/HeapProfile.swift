// Heap profiles that a sampled process makes of itself, for instance to serve them over HTTP.

import CLeakTrace

extension LeakTrace {
  /// Makes a heap profile of this process that `go tool pprof`, Pyroscope and Parca can read. The bytes are a `.pb.gz`
  /// file with Go's sample types; viewers show `inuse_space` first. A server can answer `/debug/pprof/heap` with it.
  ///
  /// The figures are estimates from the samples of a light recording (`leaktrace record --light`, or
  /// `LEAKTRACE_MODE=light`).
  ///
  /// Call it on a thread that may block. It blocks for several milliseconds. The first call takes longer, since a copy
  /// of the process looks up the names of functions. So does a call after new functions have appeared. Concurrent
  /// callers wait for each other.
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
