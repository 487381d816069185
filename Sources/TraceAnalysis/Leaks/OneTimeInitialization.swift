// Blocks that belong to a variable which is initialised when it is first used.

/// Recognises what the initialiser of a global or a static variable made. It runs once, for whichever piece of work comes first, and that work is not to clean up after it.
/// For one thread at a time.
final class OneTimeInitialization {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var known: [StackID: Bool] = [:]
  private var frames: [FrameKey: Bool] = [:]

  /// The runtime's function that calls such initialisers. Seen with Swift 6.1.2 and 6.3.1. Source: swiftlang/swift, stdlib/public/runtime/Once.cpp.
  private static let caller = "swift_once"

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) { (self.definitions, self.naming) = (definitions, naming) }

  /// Of what was allocated with a stack. Linear in the stack's depth the first time.
  func made(_ stack: StackID) -> Bool {
    if let known = known[stack] { return known }
    let result = definitions.stacks.path(of: stack).frames.contains(where: isCaller)
    known[stack] = result
    return result
  }

  private func isCaller(_ frame: StackFrame) -> Bool {
    if let known = frames[frame.key] { return known }
    let result = naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).contains { $0.mangledName == Self.caller }
    frames[frame.key] = result
    return result
  }
}
