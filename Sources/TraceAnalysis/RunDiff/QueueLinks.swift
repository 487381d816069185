// Memory whose amount shows how much was queued at once.

import PlatformRules

/// The links of queues. Each thread keeps those it is done with, to use them again, and asks for more when it has none:
/// which function of the program does something just then is chance, and so is how many there come to be.
enum QueueLinks {
  /// Their name in place of `calloc`.
  static let name = "link of a dispatch queue"
  /// The functions that ask for them, by stable name.
  static let allocators = RuleBook.shipped.table(.queueLinks, by: .symbol)
  /// Frames from the allocation function up to such a one: libdispatch's calls `calloc` itself.
  static let depth = 4
}
