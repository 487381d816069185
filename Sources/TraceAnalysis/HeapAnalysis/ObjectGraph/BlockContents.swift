// The possible contents of blocks of the C library and the Swift runtime, by the function that allocates them.

import PlatformRules
import TraceReading
import TraceSymbolication

/// The possible meaning of words in a block.
package enum BlockContents {
  case anything
  /// Text, without references.
  case bytes
  /// A table of types of the Swift runtime. It holds addresses of the runtime's own records, never of an object.
  case typeRecords
}

/// Derives the contents of blocks from the functions that allocate them. Some of these functions make blocks without
/// references. Such a block may hold old pointers from an earlier use of its memory. Without this type, those pointers
/// would keep their targets. For one thread at a time.
package final class BlockContentsByAllocator {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var known: [StackID: BlockContents] = [:]
  private var frames: [FrameKey: Frame] = [:]
  private var runtimes: [Int: Bool] = [:]

  private enum Frame {
    case streamBuffer, typeRecords
    /// A C++ function of the runtime itself.
    case runtime
    case other
  }

  private static let streamBuffers = RuleBook.shipped.table(.streamBuffer, by: .symbol)
  private static let typeTables = RuleBook.shipped.table(.typeRecords, by: .symbol)
  /// The maximum number of frames of a stack that are checked.
  private static let depthLimit = 24

  package init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    (self.definitions, self.naming) = (definitions, naming)
  }

  /// Returns the possible contents of blocks that were allocated with the given stack. Looks up the name of each frame
  /// at most once, and only for frames in the C library or the runtime. Expected constant time.
  package func contents(ofBlocksAllocatedBy stack: StackID) -> BlockContents {
    if let known = known[stack] { return known }
    let found = look(at: stack)
    known[stack] = found
    return found
  }

  private func look(at stack: StackID) -> BlockContents {
    var stack = stack
    for index in 0..<Self.depthLimit {
      guard stack.rawValue > 1, let frame = definitions.stacks.frame(of: stack) else { return .anything }
      switch kind(of: frame) {
      case .streamBuffer where index == 0: return .bytes
      case .typeRecords: return .typeRecords
      case .runtime: stack = definitions.stacks.parent(of: stack)
      case .streamBuffer, .other: return .anything
      }
    }
    return .anything
  }

  private func kind(of frame: StackFrame) -> Frame {
    if let known = frames[frame.key] { return known }
    let kind = name(frame)
    frames[frame.key] = kind
    return kind
  }

  private func name(_ frame: StackFrame) -> Frame {
    guard let index = frame.image, definitions.images.indices.contains(index) else { return .other }
    let image = definitions.images[index].image
    if SystemCode.isCLibrary(image.path) {
      return naming.frames(for: frame.key, in: image).contains {
        $0.mangledName.map { Self.streamBuffers.matches($0) } ?? false
      } ? .streamBuffer : .other
    }
    guard isRuntime(index, image) else { return .other }
    guard let name = naming.frames(for: frame.key, in: image).last?.mangledName else {
      // The library is stripped, so only exported functions have names. Functions that allocate for callers outside the
      // library are exported.
      return SystemCode.isSystemImage(image.path) ? .runtime : .other
    }
    if Self.typeTables.matches(name) { return .typeRecords }
    // Skip only the runtime's own C++ functions and look at their callers. Blocks that Swift code allocates, or that
    // the runtime allocates for Swift code, may hold anything.
    let isRuntime =
      name.hasPrefix("_ZN") && name.contains("5swift") || name.hasPrefix("_ZN12_GLOBAL__N_1") || name == "_Znwm"
      || name == "swift_once"
    return isRuntime && !name.contains("StackAllocator") ? .runtime : .other
  }

  /// Returns whether a loaded image contains the Swift runtime: the runtime's library, or a program that links it
  /// statically.
  private func isRuntime(_ index: Int, _ image: LoadedImage) -> Bool {
    if let known = runtimes[index] { return known }
    let isRuntime = naming.address(ofFunction: "swift_getTypeByMangledName", in: image) != nil
    runtimes[index] = isRuntime
    return isRuntime
  }
}
