// A tree of function activations: which activation called which.

/// A tree of activations. The parent of an activation is its caller, if the caller is known. The tree grows as stacks
/// are examined. Activations are numbered from 0 in order of addition. Memory: 12 bytes an activation.
///
/// Each activation also has a link to an activation further out. The lengths of these links follow the digits of a skew
/// binary number, so a walk outwards takes O(log depth) steps. Source: E. W. Myers, "An applicative random-access
/// stack", Information Processing Letters 17 (1983).
struct ActivationTree {
  private struct Activation: BitwiseCopyable {
    /// The calling activation; the activation itself if the caller is not known.
    var caller: UInt32
    /// The activation further out; the activation itself if its caller is not known.
    var jump: UInt32
    var depth: UInt32
  }
  private var activations: [Activation] = []

  var count: Int { activations.count }

  /// Adds an activation, and returns its number, which equals `count` before the call. The number must fit into 32
  /// bits. O(1).
  ///
  /// - Parameter caller: nil if the caller is not known.
  @discardableResult
  mutating func add(calledBy caller: Int?) -> Int {
    let number = activations.count
    guard let caller, activations.indices.contains(caller) else {
      activations.append(
        Activation(caller: UInt32(truncatingIfNeeded: number), jump: UInt32(truncatingIfNeeded: number), depth: 0))
      return number
    }
    let outer = activations[caller]
    let (jump, further) = (activations[Int(outer.jump)], activations[Int(activations[Int(outer.jump)].jump)])
    let isCarried = outer.depth - jump.depth == jump.depth - further.depth
    activations.append(
      Activation(
        caller: UInt32(truncatingIfNeeded: caller), jump: isCarried ? jump.jump : UInt32(truncatingIfNeeded: caller),
        depth: outer.depth + 1))
    return number
  }

  /// Returns the number of calls that lead from one of two activations to the other; nil if neither called the other,
  /// directly or through others. O(log depth).
  func distance(_ a: Int, _ b: Int) -> Int? {
    guard activations.indices.contains(a), activations.indices.contains(b) else { return nil }
    let (inner, outer) = activations[a].depth < activations[b].depth ? (b, a) : (a, b)
    let goal = activations[outer].depth
    var present = inner
    while activations[present].depth > goal {
      let jump = Int(activations[present].jump)
      present = activations[jump].depth >= goal ? jump : Int(activations[present].caller)
    }
    return present == outer ? Int(activations[inner].depth - goal) : nil
  }
}
