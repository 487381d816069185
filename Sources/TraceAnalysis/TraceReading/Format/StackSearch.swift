// A search for stacks with a frame of some kind.

/// Searches stacks for frames that satisfy a condition, from the innermost frame outwards. Deep stacks share most of
/// their frames, so the results for stacks and frames are kept, and each is checked only once. Memory: a byte for each
/// stack of the trace. For one thread at a time.
package final class StackSearch {
  private enum Answer: UInt8 { case unknown, lacks, has }

  private let stacks: StackTree
  private let fits: (StackFrame) -> Bool
  private var answers: [Answer] = []
  private var frames: [StackFrame: Bool] = [:]

  /// `fits`: the condition. It is called once for each distinct frame.
  package init(_ stacks: StackTree, _ fits: @escaping (StackFrame) -> Bool) {
    (self.stacks, self.fits) = (stacks, fits)
  }

  /// Returns whether a frame of the stack fits. Linear in the stack's callers that were not searched before.
  package func contains(_ stack: StackID) -> Bool {
    let count = stacks.nodeCount
    guard Int(stack.rawValue) < count else { return false }
    if answers.count < count { answers += repeatElement(.unknown, count: count - answers.count) }
    var chain: [Int] = []
    var node = stack
    var answer = Answer.lacks
    while node.rawValue > 1 {
      let index = Int(node.rawValue)
      if answers[index] != .unknown {
        answer = answers[index]
        break
      }
      chain.append(index)
      if let frame = stacks.frame(of: node), fits(known: frame) {
        answer = .has
        break
      }
      node = stacks.parent(of: node)
    }
    for index in chain { answers[index] = answer }
    return answer == .has
  }

  private func fits(known frame: StackFrame) -> Bool {
    if let known = frames[frame] { return known }
    let result = fits(frame)
    frames[frame] = result
    return result
  }
}
