// The functions of tasks, from the contexts of their frames.

extension ObjectGraph {
  /// Maximum number of contexts that are followed. A task that recurses has thousands.
  private static let contextLimit = 64

  /// Returns the addresses where a suspended task's functions resume, innermost first; at most 65.
  package func resumptions(of task: NodeID) -> [UInt64] { resumptions(ofTaskAt: heap[BlockID(task)].address) }

  /// Returns the addresses where the functions of the suspended task at `address` resume, innermost first; at most 65.
  ///
  /// Byte offsets in a task: 56 the resume address of the innermost function, 64 its context. Byte offsets in a
  /// context: 0 the next outer context, 8 the resume address. Seen with Swift 6.1.2 and 6.3.1. Source: swiftlang/swift,
  /// include/swift/ABI/Task.h.
  package func resumptions(ofTaskAt address: UInt64) -> [UInt64] {
    var addresses = [image.word(at: address &+ InitialTaskMemory.resumeOffset)]
    forEachContext(ofTaskAt: address) { addresses.append(image.word(at: $0 &+ 8)) }
    return addresses.compactMap(\.self)
  }

  /// Returns the address of the code that the task at `address` began with. Nil if the task has finished, or if its
  /// functions are nested too deeply. `InitialTaskMemory` has the place and its source.
  package func beginning(ofTaskAt address: UInt64) -> UInt64? {
    var outermost: UInt64?
    forEachContext(ofTaskAt: address) { outermost = $0 }
    guard let outermost, image.word(at: outermost) == nil,
      let function = image.word(at: outermost &- InitialTaskMemory.functionDistance), roots.isImage(function)
    else { return nil }
    return function
  }

  /// Returns the addresses of code in the closure that the task at `address` began with, and in the closures that this
  /// closure calls. The function of a thunk has a closure whose words have the address of the real function.
  package func closureFunctions(ofTaskAt address: UInt64) -> [UInt64] {
    var closure = self.closure(ofTaskAt: address)
    var functions: [UInt64] = []
    for _ in 0..<Self.closureLimit {
      guard let found = closure else { break }
      let block = heap[found]
      closure = nil
      image.forEachWord(in: block.address &+ Self.closureHeader..<block.address &+ min(block.size, Self.closureWords)) {
        _, word in
        if roots.isImage(word) {
          functions.append(word)
        } else if closure == nil {
          closure = self.closure(at: word)
        }
      }
    }
    return functions
  }

  /// Returns the context of the closure that the task at `address` began with. Nil if the closure has no context, or if
  /// the task has finished.
  func closure(ofTaskAt address: UInt64) -> BlockID? {
    var outermost: UInt64?
    forEachContext(ofTaskAt: address) { outermost = $0 }
    return outermost.flatMap { image.word(at: $0 &- InitialTaskMemory.closureDistance) }
      .flatMap { self.closure(at: $0) }
  }

  private func closure(at address: UInt64) -> BlockID? {
    heap.block(containing: address).flatMap { type(of: $0.rawValue).kind == .closure ? $0 : nil }
  }

  /// Maximum number of closures that call one another.
  private static let closureLimit = 4
  private static let closureHeader: UInt64 = 16
  /// The function of a thunk's closure is among these first bytes.
  private static let closureWords: UInt64 = 48

  /// Returns whether the task at `address` still resumes where new tasks begin. That is also true of a task that runs
  /// and was never suspended.
  package func hasNotBegun(taskAt address: UInt64) -> Bool {
    image.word(at: address &+ InitialTaskMemory.resumeOffset).map(taskBeginnings.contains) ?? false
  }

  private func forEachContext(ofTaskAt address: UInt64, _ body: (UInt64) -> Void) {
    var context = image.word(at: address &+ InitialTaskMemory.contextOffset)
    for _ in 0..<Self.contextLimit {
      guard let current = context, current & 7 == 0 else { return }
      body(current)
      context = image.word(at: current)
    }
  }
}
