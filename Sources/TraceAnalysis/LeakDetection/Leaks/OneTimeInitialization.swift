// Blocks that belong to a variable which is initialised when it is first used.

import PlatformRules
import TraceReading
import TraceSymbolication

/// Recognises what the initialiser of a global or a static variable made. It runs once, for whichever piece of work
/// comes first, and that work is not to clean up after it.
/// For one thread at a time.
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

  /// Of what was allocated with a stack. Linear in those of its frames that were not looked at before.
  func made(_ stack: StackID) -> Bool { search.contains(stack) }
}
