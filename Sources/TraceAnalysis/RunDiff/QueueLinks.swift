// Memory whose amount shows how much was queued at once.

/// The links of libdispatch's queues. Each thread keeps those it is done with, to use them again, and asks for more
/// when it has none: which function of the program does something just then is chance, and so is how many there come to
/// be.
enum QueueLinks {
  /// Their name in place of `calloc`.
  static let name = "link of a dispatch queue"
  /// The function of libdispatch that asks for them, in Swift 6.1 to 6.3.
  static let allocator = "_dispatch_continuation_alloc_from_heap"
  /// Frames from the allocation function up to it: it calls `calloc` itself.
  static let depth = 4
}
