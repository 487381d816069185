// Counts the sleeps that have ended, by the functions that slept.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The numbers of ended sleeps. A task whose sleep is over waits for its executor, and its memory shows no sleep. But
/// each sleep allocated memory, and the stacks of these allocations have the function that slept.
///
/// For one thread at a time.
final class EndedSleeps {
  private let sites: AllocationSites
  private let stacks: StackTree
  private let naming: FindingNaming
  private lazy var counts: [Function: UInt64] = count()

  /// An async function, with all of its parts.
  private struct Function: Hashable {
    let image: String?
    let name: String

    init(_ frame: SourceFrame) { (image, name) = (frame.imagePath, frame.function) }
  }

  init(_ sites: AllocationSites, stacks: StackTree, naming: FindingNaming) {
    (self.sites, self.stacks, self.naming) = (sites, stacks, naming)
  }

  /// Returns how many sleeps have ended in the innermost function of the program that a task is suspended in, or in a
  /// function that it awaited. Counts the sleeps of all tasks. The first call takes O(sites).
  func count(in task: NodeID) -> UInt64 {
    guard let function = naming.suspension(of: task), function.kind == .user else { return 0 }
    return counts[Function(function)] ?? 0
  }

  /// A sleep makes several allocations, each at a site of its own. So the site with the most ends counts.
  private func count() -> [Function: UInt64] {
    var counts: [Function: UInt64] = [:]
    for site in sites where site.deaths > 0 {
      for function in functions(thatSleepAt: site.stack) { counts[function] = max(counts[function] ?? 0, site.deaths) }
    }
    return counts
  }

  /// Returns the program's functions that awaited a sleep, or a function that did, when a stack's memory was allocated.
  private func functions(thatSleepAt stack: StackID) -> [Function] {
    let path = stacks.path(of: stack, limit: Self.depthLimit).frames
    // Few stacks have callers that are suspended.
    guard path.contains(where: \.key.isAsync) else { return [] }
    var functions: [Function] = []
    var isSleep = false
    for frame in path {
      for function in naming.frames(for: frame) {
        if function.kind != .user {
          isSleep = isSleep || Registrations.isSleep(function: function.function)
        } else if !isSleep || !frame.key.isAsync {
          return functions
        } else {
          functions.append(Function(function))
        }
      }
    }
    return functions
  }

  /// Maximum number of innermost frames that are searched.
  private static let depthLimit = 24
}
