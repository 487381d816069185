// Objects of a path that are drawn, and those of which the number is told.

import LeakDetection
import TraceReading
import Wording

/// Folds what a library put between the program's objects. Only chooses.
enum PathFolding {
  enum Row: Hashable {
    /// Index in the path.
    case object(Int)
    /// Objects in a row that a library has for itself.
    case folded(Range<Int>)
    /// Objects in a row that are like those before it, as in a list; `count` includes those that the path leaves out.
    case repeated(Range<Int>, count: Int)
    /// A task that a library resumes. `joined` are the steps that lead to it, the task, and its closure.
    case task(Int, joined: Range<Int>)
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
    if let suspect, let task = resumedTask(of: path, before: suspect) {
      let closure = closure(of: path, after: task, before: suspect)
      index = (closure ?? task) + 1
      rows.append(.task(task, joined: 0..<index))
    }
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
    return foldingRepetitions(rows, of: path, below: suspect)
  }

  /// The same rows with a list told by its ends. A list may have objects of several classes in turn. Linear in the rows.
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
      // The suspect reference and its ends stay.
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

  /// Returns how many classes take turns in a list that begins at a row, and where it ends; nil if none begins there.
  private static func repetition(at start: Int, of rows: [Row], _ path: [Finding.Step]) -> (period: Int, end: Int)? {
    for period in 1...longestPeriod {
      var end = start + period
      while end < rows.count, let index = object(rows[end]), let earlier = object(rows[end - period]),
        index - earlier == period, areAlike(index, earlier, of: path)
      {
        end += 1
      }
      if end - start >= 2 * period + 2 + leastRepeated { return (period, end) }
    }
    return nil
  }

  /// Tells whether two steps are objects of one class that one line made and one field holds.
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

  /// Classes that take turns in a list.
  private static let longestPeriod = 4
  /// The least number of objects in the middle of a list that a row folds.
  private static let leastRepeated = 2

  /// The last task before the suspect reference, if the path comes from a library and meets no object of the program's
  /// before that. Where the program's own field leads to a task, its author looks for the field.
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

  /// The function that a task runs, as a closure with captures: the first thing behind the task that is no library's.
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

  /// Memory of which no more is known than that it leads on.
  private static func isNameless(_ index: Int, of path: [Finding.Step]) -> Bool {
    let step = path[index]
    switch step.kind {
    case .malloc, .box, .sideTable: return true
    case .closure: return step.function.map { $0.kind != .user } ?? true
    default: return false
    }
  }

  /// Names a task by the function that started it: `a task started in Session.beat()`. If the start was not
  /// recorded, by the function that it runs.
  static func name(ofTask step: Finding.Step) -> String {
    step.place.map { "a task started in \($0.function)" } ?? step.code.map { "a task in \($0.function)" } ?? "a task"
  }

  /// `… 1,444 more like these …`
  static func words(ofRepeated count: Int) -> String {
    "… \(Decimal.grouped(UInt64(max(0, count)))) more like these …"
  }

  /// Gives the place where a task waits: `suspended at Session.swift:8`; empty if it is not known.
  static func state(ofTask step: Finding.Step) -> String {
    step.code?.position.map { "suspended at \($0)" } ?? ""
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
