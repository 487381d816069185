// Memory whose amount depends on how much work was queued at the same time.

import PlatformRules

/// The links of libdispatch's queues. Each thread keeps used links for reuse, and allocates more when it has none. So
/// chance decides which function of the program causes an allocation, and how many links there are.
enum QueueLinks {
  /// The name of these blocks in a digest, in place of `calloc`.
  static let name = "link of a dispatch queue"
  /// The functions that allocate links, by stable name.
  static let allocators = RuleBook.shipped.table(.queueLinks, by: .symbol)
  /// Maximum number of frames to search for such a function, counted from the allocation function. libdispatch's
  /// function calls `calloc` directly.
  static let depth = 4
}
