// Trees of 15 nodes with strong references to their parents: one finding, however many cycles there are in it.

final class FolderNode {
  var children: [FolderNode] = []
  var parent: FolderNode?
  weak var container: FolderNode?

  func grow(levels: Int) {
    guard levels > 1 else { return }
    for _ in 0..<2 {
      let child = FolderNode()
      child.parent = self
      child.grow(levels: levels - 1)
      children.append(child)
    }
  }

  func growWeakly(levels: Int) {
    guard levels > 1 else { return }
    for _ in 0..<2 {
      let child = FolderNode()
      child.container = self
      child.growWeakly(levels: levels - 1)
      children.append(child)
    }
  }

  var count: Int { children.reduce(1) { $0 + $1.count } }
}

enum FolderTree: FaultyProgram {
  static func faulty() { for _ in 0..<3 { scan() } }
  static func correct() { for _ in 0..<3 { scanWeakly() } }

  @inline(never) private static func scan() {
    let root = FolderNode()
    root.grow(levels: 4)
    note(root.count)
  }

  @inline(never) private static func scanWeakly() {
    let root = FolderNode()
    root.growWeakly(levels: 4)
    note(root.count)
  }
}
