// Recognises blocks of variables that are initialised on first use.

import PlatformRules
import TraceReading
import TraceSymbolication

/// Recognises blocks that the initialiser of a global or static variable made. Such an initialiser runs once, for the
/// first piece of work that needs the variable. That piece of work need not free the blocks. For one thread at a time.
final class OneTimeInitialization {
  private let search: StackSearch

  /// The runtime's function that calls such initialisers.
  private static let callers = RuleBook.shipped.table(.runsOnce, by: .symbol)

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    search = StackSearch(definitions.stacks) { frame in
      naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).contains {
        $0.mangledName.map { Self.callers.matches($0) } ?? false
      }
    }
  }

  /// Returns whether such an initialiser made the block with this allocation stack. Linear in the frames that were not
  /// examined before.
  func made(_ stack: StackID) -> Bool { search.contains(stack) }
}
