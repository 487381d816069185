// Objects of a path that are drawn, and those of which the number is told.

import LeakDetection

/// Folds what a library put between the program's objects. Only chooses.
enum PathFolding {
  enum Row: Hashable {
    /// Index in the path.
    case object(Int)
    /// Objects in a row that a library has for itself.
    case folded(Range<Int>)
  }

  /// A path's rows in order. Its ends stand for themselves, since they are what it is about; in a cycle that is the
  /// first object alone. So does the object `suspect`, if there is one, with the one that holds it: that reference is
  /// the one to let go. O(path).
  static func rows(of path: [Finding.Step], below suspect: Int? = nil, isCycle: Bool = false, isFolded: Bool = true)
    -> [Row]
  {
    guard isFolded, path.count > 2 || suspect != nil else { return path.indices.map { .object($0) } }
    var rows: [Row] = []
    var index = 0
    while index < path.count {
      var end = index
      while end < path.count, mayFold(end, of: path, below: suspect, isCycle: isCycle) { end += 1 }
      // One with a name says more than that there is one.
      if end - index > 1 || end - index == 1 && isNameless(index, of: path) {
        rows.append(.folded(index..<end))
        index = end
      } else {
        rows.append(.object(index))
        index += 1
      }
    }
    return rows
  }

  private static func mayFold(_ index: Int, of path: [Finding.Step], below suspect: Int?, isCycle: Bool) -> Bool {
    guard path[index].library != nil, index > 0 || suspect != nil, isCycle || index < path.count - 1 else {
      return false
    }
    guard let suspect else { return true }
    return index != suspect
  }

  /// Memory of which no more is known than that it leads on.
  private static func isNameless(_ index: Int, of path: [Finding.Step]) -> Bool {
    let step = path[index]
    switch step.kind {
    case .malloc, .box, .sideTable: return true
    case .closure: return step.function.map { $0.kind != .user } ?? true
    default: return false
    }
  }

  /// `OpenCombine`, `libdispatch and the Swift runtime`.
  static func libraries(_ steps: ArraySlice<Finding.Step>) -> String {
    var names: [String] = []
    for name in steps.compactMap(\.library) where !names.contains(name) { names.append(name) }
    return switch names.count {
    case 0: "a library"
    case 1: names[0]
    case 2: "\(names[0]) and \(names[1])"
    default: "libraries"
    }
  }
}
