// The possible contents of blocks of the C library and the Swift runtime, by the function that allocates them.

import PlatformRules
import TraceReading
import TraceSymbolication

/// The possible meaning of words in a block.
package enum BlockContents {
  case anything
  /// Text: no word of it is a reference.
  case bytes
  /// The Swift runtime's tables of types: addresses of its own records, never of an object.
  case typeRecords
}

/// Recognises blocks by the functions that allocate them. Such memory was used before, and its old contents stay until
/// something else is written there: old pointers, which would keep their targets. For one thread at a time.
package final class BlockContentsByAllocator {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var known: [StackID: BlockContents] = [:]
  private var frames: [FrameKey: Frame] = [:]
  private var runtimes: [Int: Bool] = [:]

  private enum Frame {
    case streamBuffer, typeRecords
    /// The runtime itself, in C++.
    case runtime
    case other
  }

  private static let streamBuffers = RuleBook.shipped.table(.streamBuffer, by: .symbol)
  private static let typeTables = RuleBook.shipped.table(.typeRecords, by: .symbol)
  /// The most frames of the runtime that are checked.
  private static let depthLimit = 24

  package init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    (self.definitions, self.naming) = (definitions, naming)
  }

  /// Returns the possible contents of blocks that were allocated with a stack. Expected constant time; a frame is
  /// looked up by name once, and only if it is the C library's or the runtime's.
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
      // A stripped library: only the functions that it exports have names. Those that allocate for others are among
      // them.
      return SystemCode.isSystemImage(image.path) ? .runtime : .other
    }
    if Self.typeTables.matches(name) { return .typeRecords }
    // For Swift code, and for functions that allocate for it, the caller decides the purpose.
    let isRuntime =
      name.hasPrefix("_ZN") && name.contains("5swift") || name.hasPrefix("_ZN12_GLOBAL__N_1") || name == "_Znwm"
      || name == "swift_once"
    return isRuntime && !name.contains("StackAllocator") ? .runtime : .other
  }

  /// Returns whether an image contains the Swift runtime, alone or linked into a program.
  private func isRuntime(_ index: Int, _ image: LoadedImage) -> Bool {
    if let known = runtimes[index] { return known }
    let isRuntime = naming.address(ofFunction: "swift_getTypeByMangledName", in: image) != nil
    runtimes[index] = isRuntime
    return isRuntime
  }
}
