// Finds wrappers of malloc. The caller of a wrapper is the function that requested the memory.

import TraceReading
import TraceSymbolication

/// Distinguishes a program's own allocators from functions that make a specific thing. For one thread at a time.
///
/// Functions such as `xmalloc` and `OPENSSL_malloc` allocate all memory of a program at one place in the code, so
/// unrelated leaks share this place. A function is an allocator if it is declared as one (`AllocatorSignature`), and
/// several functions call it.
final class AllocationWrappers {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private let stacks: () -> [StackID]
  private var frames: [StackFrame: [Frame]] = [:]

  private struct Frame {
    var source: SourceFrame
    /// Whether the function has an allocator's signature.
    var isDeclared: Bool
    /// True if the function is malloc itself, or a thunk that the compiler made.
    var isPassedOver: Bool
  }

  /// Minimum number of functions that call a wrapper. A function with three callers may make something specific for
  /// them.
  private static let minCallers = 4
  /// Maximum number of nested wrappers that are skipped in one stack. The variants of malloc in C programs do not nest
  /// more deeply. There are four variants: zeroed, for several elements, checked, and counted.
  private static let depthLimit = 8

  /// `stacks`: returns the stacks of all untyped allocations.
  init(_ definitions: TraceDefinitions, naming: any FrameNaming, stacks: @escaping () -> [StackID]) {
    self.definitions = definitions
    self.naming = naming
    self.stacks = stacks
  }

  /// Returns how many innermost frames of a stack are allocating functions, or wrappers of such functions. O(1) if the
  /// innermost function is not declared as an allocator; otherwise the first call reads all stacks.
  func frameCount(of stack: StackID) -> Int {
    var cursor = Cursor(self, stack)
    /// The number of frames read, the number up to the last wrapper, and the number of wrappers.
    var (met, count, depth) = (0, 0, 0)
    while depth < Self.depthLimit, let frame = cursor.next() {
      met += 1
      if frame.isPassedOver { continue }
      var ahead = cursor
      // A caller in the platform does not show the purpose of the memory.
      guard frame.isDeclared, isWrapper(frame.source), let caller = ahead.nextCaller(), caller.source.kind == .user
      else { break }
      count = met
      depth += 1
    }
    return count
  }

  private func isWrapper(_ function: SourceFrame) -> Bool { (callers[key(function)]?.count ?? 0) >= Self.minCallers }

  private struct FunctionKey: Hashable {
    var image: String
    var name: String
  }

  private func key(_ frame: SourceFrame) -> FunctionKey {
    FunctionKey(image: frame.imagePath ?? "", name: frame.mangledName ?? frame.function)
  }

  /// Some of the callers of each function that is declared as an allocator.
  private lazy var callers: [FunctionKey: Set<FunctionKey>] = {
    var callers: [FunctionKey: Set<FunctionKey>] = [:]
    for stack in stacks() {
      var cursor = Cursor(self, stack)
      var depth = 0
      while depth < Self.depthLimit, let frame = cursor.next() {
        if frame.isPassedOver { continue }
        guard frame.isDeclared else { break }
        depth += 1
        let function = key(frame.source)
        var ahead = cursor
        guard let caller = ahead.nextCaller() else { break }
        if caller.source.kind == .user, (callers[function]?.count ?? 0) < Self.minCallers {
          callers[function, default: []].insert(key(caller.source))
        }
      }
    }
    return callers
  }()

  private func frames(of frame: StackFrame) -> [Frame] {
    if let known = frames[frame] { return known }
    let image = frame.image.map { definitions.images[$0].image }
    let sources = naming.frames(for: frame.key, in: image)
    let declared = naming.allocatorSignatures(for: frame.key, in: image)
    let found = sources.enumerated().map { index, source in
      Frame(
        source: source, isDeclared: source.kind == .user && index < declared.count && declared[index],
        isPassedOver: AllocationFunctions.isOne(source) || source.kind == .thunk)
    }
    frames[frame] = found
    return found
  }

  /// Walks a stack's functions from the innermost outwards, and names only the requested ones.
  private struct Cursor {
    private let wrappers: AllocationWrappers
    private var stack: StackID
    private var pending: ArraySlice<Frame> = []

    init(_ wrappers: AllocationWrappers, _ stack: StackID) { (self.wrappers, self.stack) = (wrappers, stack) }

    mutating func next() -> Frame? {
      while pending.isEmpty {
        guard stack.rawValue > 1, let frame = wrappers.definitions.stacks.frame(of: stack) else { return nil }
        pending = wrappers.frames(of: frame)[...]
        stack = wrappers.definitions.stacks.parent(of: stack)
      }
      return pending.popFirst()
    }

    /// Returns the next function that is not passed over.
    mutating func nextCaller() -> Frame? {
      while let frame = next() { if !frame.isPassedOver { return frame } }
      return nil
    }
  }
}
