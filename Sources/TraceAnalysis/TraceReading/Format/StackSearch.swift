// Looking for stacks that have a frame of some kind.

/// Looks for frames that fit, from stacks' inner ends outwards. Each stack, and each address, is looked at once,
/// however many stacks run through it: deep stacks have most of their frames in common. A byte for each stack of the
/// trace. For one thread at a time.
package final class StackSearch {
  private enum Answer: UInt8 { case unknown, lacks, has }

  private let stacks: StackTree
  private let fits: (StackFrame) -> Bool
  private var answers: [Answer] = []
  private var frames: [StackFrame: Bool] = [:]

  /// `fits` is asked once for each distinct frame.
  package init(_ stacks: StackTree, _ fits: @escaping (StackFrame) -> Bool) {
    (self.stacks, self.fits) = (stacks, fits)
  }

  /// Tells whether a frame of the stack fits. Linear in those of its callers that were not looked at before.
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
