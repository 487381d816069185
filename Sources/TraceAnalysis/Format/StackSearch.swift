// Looking for stacks that have a frame of some kind.

/// Looks for frames that fit, from stacks' inner ends outwards. Each stack, and each address, is looked at once, however many stacks run through it: deep stacks have most of
/// their frames in common. A byte for each stack of the trace. For one thread at a time.
final class StackSearch {
  private enum Verdict: UInt8 { case unknown, lacks, has }

  private let stacks: StackTree
  private let fits: (StackFrame) -> Bool
  private var verdicts: [Verdict] = []
  private var frames: [StackFrame: Bool] = [:]

  /// `fits` is asked once for each distinct frame.
  init(_ stacks: StackTree, _ fits: @escaping (StackFrame) -> Bool) { (self.stacks, self.fits) = (stacks, fits) }

  /// Whether a frame of the stack fits. Linear in those of its callers that were not looked at before.
  func contains(_ stack: StackID) -> Bool {
    let count = stacks.nodeCount
    guard Int(stack.rawValue) < count else { return false }
    if verdicts.count < count { verdicts += repeatElement(.unknown, count: count - verdicts.count) }
    var chain: [Int] = []
    var node = stack
    var verdict = Verdict.lacks
    while node.rawValue > 1 {
      let index = Int(node.rawValue)
      if verdicts[index] != .unknown {
        verdict = verdicts[index]
        break
      }
      chain.append(index)
      if let frame = stacks.frame(of: node), fits(known: frame) {
        verdict = .has
        break
      }
      node = stacks.parent(of: node)
    }
    for index in chain { verdicts[index] = verdict }
    return verdict == .has
  }

  private func fits(known frame: StackFrame) -> Bool {
    if let known = frames[frame] { return known }
    let result = fits(frame)
    frames[frame] = result
    return result
  }
}
