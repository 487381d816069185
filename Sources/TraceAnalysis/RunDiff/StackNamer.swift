// Converts the stacks of a trace to lists of the program's functions, without repeats.

import TraceReading
import TraceSymbolication

/// Names the nodes of a stack tree, and joins nodes with the same names. Folds recursion: keeps only the outermost call
/// of a function, so stacks that differ only in recursion depth become one. Leaves out thunks. Leaves out platform
/// functions unless the stack has no others. For one thread at a time.
struct StackNamer {
  /// The frames, by their numbers. Frames at different lines of one function have the same stable name.
  private(set) var frames: [DiffFrame] = []
  private(set) var nodes: [RunDigest.StackNode] = []

  private struct Step: Hashable {
    var caller: Int32
    var name: Int32
  }

  /// For a node of the trace's tree: the folded stack, and its innermost frame.
  private struct Named {
    var stack: Int32 = -1
    var innermost: Int32 = -1
  }

  private struct Functions {
    var user: [Int32] = []
    var system: [Int32] = []
  }

  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var known: [Named?]
  /// The same table for stacks without functions of the program, which are named by the platform's functions.
  private var knownOfPlatform: [Named?] = []
  private var steps: [Step: Int32] = [:]
  private var numbers: [DiffFrame: Int32] = [:]
  private var functions: [StackFrame: Functions] = [:]
  private var sampledFrames: [FrameKey: StackFrame] = [:]
  /// For each frame: the number of its stable name.
  private var stableNumbers: [Int32] = []
  private var stableNames: [String: Int32] = [:]

  /// The number of callers that may still be visited to find recursion. At 0, recursion is no longer folded.
  private(set) var spareSteps: UInt64

  /// `steps`: maximum number of callers that are visited in total to find recursion.
  init(_ definitions: TraceDefinitions, naming: any FrameNaming, steps: UInt64 = .max) {
    self.definitions = definitions
    self.naming = naming
    spareSteps = steps
    known = Array(repeating: nil, count: definitions.stacks.nodeCount)
  }

  /// Returns the number of a frame's stable name.
  func stableNumber(of frame: Int32) -> Int32 { frame < 0 ? -1 : stableNumbers[Int(frame)] }

  /// Returns the folded stack and its innermost frame. All calls together are linear in the tree's nodes.
  mutating func stack(_ stack: StackID) -> (stack: Int32, innermost: Int32) {
    var chain: [StackID] = []
    var node = stack
    while node.rawValue > 1, known[Int(node.rawValue)] == nil {
      chain.append(node)
      node = definitions.stacks.parent(of: node)
    }
    var named = node.rawValue > 1 ? known[Int(node.rawValue)] ?? Named() : Named()
    for node in chain.reversed() {
      if let frame = definitions.stacks.frame(of: node) {
        // Inlined calls put several functions at one address; the innermost is first.
        for function in functions(of: frame).user.reversed() {
          named.stack = push(function, on: named.stack)
          named.innermost = function
        }
      }
      known[Int(node.rawValue)] = named
    }
    return named.stack >= 0 ? (named.stack, named.innermost) : systemStack(stack)
  }

  /// Returns the folded stack and innermost frame of a sampled stack, whose first frame is the outermost. Linear in the
  /// stack's frames, and in the trace's loaded images for each new address.
  mutating func stack(ofSampled frames: [FrameKey]) -> (stack: Int32, innermost: Int32) {
    let functions = frames.map { key in
      let frame =
        sampledFrames[key] ?? StackFrame(key: key, image: definitions.onlyImageIndex(at: key.lookupAddress))
      sampledFrames[key] = frame
      return self.functions(of: frame)
    }
    let chosen: KeyPath<Functions, [Int32]> = functions.contains { !$0.user.isEmpty } ? \.user : \.system
    var named = Named()
    for frame in functions {
      for function in frame[keyPath: chosen].reversed() {
        named.stack = push(function, on: named.stack)
        named.innermost = function
      }
    }
    return (named.stack, named.innermost)
  }

  /// Names a stack without functions of the program by its platform functions.
  private mutating func systemStack(_ stack: StackID) -> (stack: Int32, innermost: Int32) {
    if knownOfPlatform.isEmpty { knownOfPlatform = Array(repeating: nil, count: known.count) }
    var chain: [StackID] = []
    var node = stack
    while node.rawValue > 1, knownOfPlatform[Int(node.rawValue)] == nil {
      chain.append(node)
      node = definitions.stacks.parent(of: node)
    }
    var named = node.rawValue > 1 ? knownOfPlatform[Int(node.rawValue)] ?? Named() : Named()
    for node in chain.reversed() {
      if let frame = definitions.stacks.frame(of: node) {
        for function in functions(of: frame).system.reversed() {
          named.stack = push(function, on: named.stack)
          named.innermost = function
        }
      }
      knownOfPlatform[Int(node.rawValue)] = named
    }
    return (named.stack, named.innermost)
  }

  /// Returns whether a library allocated the block as a link of its queues.
  mutating func isOfQueue(_ stack: StackID) -> Bool {
    var node = stack
    for _ in 0..<QueueLinks.depth where node.rawValue > 1 {
      guard let frame = definitions.stacks.frame(of: node) else { return false }
      let functions = functions(of: frame)
      if functions.system.contains(where: { QueueLinks.allocators.matches(frames[Int($0)].stableName) }) { return true }
      if !functions.user.isEmpty { return false }
      node = definitions.stacks.parent(of: node)
    }
    return false
  }

  /// Returns the stable names of the program's functions on a stack, innermost first, without repeats.
  mutating func functions(of stack: StackID) -> [String] {
    guard Int(stack.rawValue) < known.count else { return [] }
    var (node, innermost) = self.stack(stack)
    var result: [String] = innermost >= 0 ? [frames[Int(innermost)].stableName] : []
    while node >= 0 {
      let name = frames[Int(nodes[Int(node)].frame)].stableName
      if name != result.first { result.append(name) }
      node = nodes[Int(node)].caller
    }
    return result
  }

  /// Returns the stack with the function added as the innermost one, or `stack` itself if it already has the function.
  private mutating func push(_ frame: Int32, on stack: Int32) -> Int32 {
    let name = stableNumbers[Int(frame)]
    let step = Step(caller: stack, name: name)
    if let known = steps[step] { return known }
    var node = stack
    while node >= 0, spareSteps > 0 {
      if stableNumbers[Int(nodes[Int(node)].frame)] == name {
        steps[step] = stack
        return stack
      }
      node = nodes[Int(node)].caller
      spareSteps -= 1
    }
    let number = Int32(nodes.count)
    nodes.append(RunDigest.StackNode(caller: stack, frame: frame))
    steps[step] = number
    return number
  }

  private mutating func functions(of frame: StackFrame) -> Functions {
    if let known = functions[frame] { return known }
    var result = Functions()
    for source in naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
    where source.kind != .thunk {
      let symbol = source.mangledName.map { SymbolHash.of($0.utf8) } ?? 0
      let frame = number(
        of: DiffFrame(
          function: source.function, stableName: StableName.of(source), symbol: symbol,
          isPlatform: source.kind != .user, file: source.file, line: source.line))
      if source.kind == .user { result.user.append(frame) } else { result.system.append(frame) }
    }
    functions[frame] = result
    return result
  }

  private mutating func number(of frame: DiffFrame) -> Int32 {
    if let known = numbers[frame] { return known }
    let number = Int32(frames.count)
    frames.append(frame)
    numbers[frame] = number
    let stable = stableNames[frame.stableName] ?? Int32(stableNames.count)
    stableNames[frame.stableName] = stable
    stableNumbers.append(stable)
    return number
  }
}
