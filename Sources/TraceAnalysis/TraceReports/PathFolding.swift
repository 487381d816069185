// Chooses which objects of a path are drawn, and which are only counted.

import LeakDetection
import TextWriting
import TraceReading
import Wording

/// Folds library objects between the program's objects. Makes decisions only; does not format.
enum PathFolding {
  enum Row: Hashable {
    /// Index in the path.
    case object(Int)
    /// Consecutive objects that are private to a library.
    case folded(Range<Int>)
    /// Consecutive objects that resemble the objects before them, as in a list. `count` includes objects that the path
    /// leaves out.
    case repeated(Range<Int>, count: Int)
    /// A task that a library resumes. `joined`: the steps that lead to the task, the task itself, and its closure.
    case task(Int, joined: Range<Int>)
  }

  /// Returns a path's rows in order. The ends of a path matter most: the last object is folded only in a cycle, and the
  /// first object only if there is a `suspect`. The object `suspect` is never folded, because the reference to it is
  /// the one to remove. O(path).
  static func rows(of path: [Finding.Step], below suspect: Int? = nil, isCycle: Bool = false, isFolded: Bool = true)
    -> [Row]
  {
    guard isFolded, path.count > 2 || suspect != nil else { return path.indices.map { .object($0) } }
    var rows: [Row] = []
    var index = 0
    if let suspect, let task = resumedTask(of: path, before: suspect) {
      let closure = closure(of: path, after: task, before: suspect)
      index = (closure ?? task) + 1
      rows.append(.task(task, joined: 0..<index))
    }
    while index < path.count {
      var end = index
      while end < path.count, mayFold(end, of: path, below: suspect, isCycle: isCycle) { end += 1 }
      // One object with a name says more than `1 step`.
      if end - index > 1 || end - index == 1 && isNameless(index, of: path) {
        rows.append(.folded(index..<end))
        index = end
      } else {
        rows.append(.object(index))
        index += 1
      }
    }
    return foldingRepetitions(rows, of: path, below: suspect)
  }

  /// Folds lists: keeps the ends of each list, and counts the objects in between. In a list, objects of several classes
  /// may alternate. Linear in the rows.
  private static func foldingRepetitions(_ rows: [Row], of path: [Finding.Step], below suspect: Int?) -> [Row] {
    var result: [Row] = []
    var index = 0
    while index < rows.count {
      guard let (period, end) = repetition(at: index, of: rows, path) else {
        result.append(rows[index])
        index += 1
        continue
      }
      let middle = (index + period + 1)..<(end - period - 1)
      let first = object(rows[middle.lowerBound])!, last = object(rows[middle.upperBound - 1])!
      // If the suspect reference is in the list, keep every row.
      if let suspect, (first...(last + 1)).contains(suspect) {
        result += rows[index..<end]
        index = end
        continue
      }
      let leftOut = path[first...last].reduce(0) { $0 + ($1.omittedBefore ?? 0) }
      result += rows[index..<middle.lowerBound]
      result.append(.repeated(first..<(last + 1), count: last + 1 - first + leftOut))
      result += rows[middle.upperBound..<end]
      index = end
    }
    return result
  }

  /// Finds a list that begins at a row. Returns the number of classes that alternate in it, and its end; nil if no list
  /// begins there.
  private static func repetition(at start: Int, of rows: [Row], _ path: [Finding.Step]) -> (period: Int, end: Int)? {
    for period in 1...longestPeriod {
      var end = start + period
      while end < rows.count, let index = object(rows[end]), let earlier = object(rows[end - period]),
        index - earlier == period, areAlike(index, earlier, of: path)
      {
        end += 1
      }
      if end - start >= 2 * period + 2 + minRepeated { return (period, end) }
    }
    return nil
  }

  /// True if both steps are objects of the same class, allocated by the same line and held by the same field.
  private static func areAlike(_ first: Int, _ second: Int, of path: [Finding.Step]) -> Bool {
    guard min(first, second) > 0 else { return false }
    let (a, b) = (path[first], path[second])
    return a.kind == b.kind && a.type == b.type && a.place == b.place
      && path[first - 1].reference == path[second - 1].reference
  }

  private static func object(_ row: Row) -> Int? {
    if case .object(let index) = row { return index }
    return nil
  }

  /// Maximum number of classes that alternate in a list.
  private static let longestPeriod = 4
  /// Minimum number of objects in the middle of a list that become one folded row.
  private static let minRepeated = 2

  /// Returns the last task before the suspect reference, if the path begins in a library and has no object of the
  /// program before the task. Otherwise nil: if a field of the program leads to the task, the developer needs to see
  /// the field.
  private static func resumedTask(of path: [Finding.Step], before suspect: Int) -> Int? {
    guard path.first?.library != nil, suspect <= path.count,
      let task = path[..<suspect].lastIndex(where: { $0.kind == .task })
    else { return nil }
    return path[..<task].contains { isProgramsOwn($0) } ? nil : task
  }

  private static func isProgramsOwn(_ step: Finding.Step) -> Bool {
    switch step.kind {
    case .object: step.library == nil
    case .closure: step.library == nil && step.function?.kind == .user
    default: false
    }
  }

  /// Returns the closure with captures that is a task's function: the first object after the task that is outside
  /// libraries.
  private static func closure(of path: [Finding.Step], after task: Int, before suspect: Int) -> Int? {
    let index = (task + 1..<suspect).first { path[$0].kind != .malloc && path[$0].library == nil }
    return index.flatMap { path[$0].kind == .closure ? $0 : nil }
  }

  private static func mayFold(_ index: Int, of path: [Finding.Step], below suspect: Int?, isCycle: Bool) -> Bool {
    guard path[index].library != nil, index > 0 || suspect != nil, isCycle || index < path.count - 1 else {
      return false
    }
    guard let suspect else { return true }
    return index != suspect
  }

  /// True for memory without a name to show. Only the references of such memory are known.
  private static func isNameless(_ index: Int, of path: [Finding.Step]) -> Bool {
    let step = path[index]
    switch step.kind {
    case .malloc, .box, .sideTable: return true
    case .closure: return step.function.map { $0.kind != .user } ?? true
    default: return false
    }
  }

  /// Names a task by the function that started it: `a task started in Session.beat()`. If the start was not recorded,
  /// names the task by the function that it runs.
  static func name(ofTask step: Finding.Step) -> String {
    step.place.map { "a task started in \($0.function)" } ?? step.code.map { "a task in \($0.function)" } ?? "a task"
  }

  /// Returns the words for a folded list, such as `… 1,444 more like these …`.
  static func words(ofRepeated count: Int) -> String {
    "… \(Decimal.grouped(UInt64(max(0, count)))) more like these …"
  }

  /// Returns the place where a task waits, such as `suspended at Session.swift:8`; empty if the place is unknown.
  static func state(ofTask step: Finding.Step) -> String {
    step.code?.position.map { "suspended at \($0)" } ?? ""
  }

  /// Returns the names of the libraries, such as `OpenCombine` or `libdispatch and the Swift runtime`.
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
