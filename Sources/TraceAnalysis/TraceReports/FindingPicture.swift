// The picture of a finding: the parts of its path to draw, as text.

import LeakDetection
import TextWriting
import TraceReading
import Wording

/// The root, the objects and the references of the shown instance, for graphs and pages. Folds library objects between
/// the program's objects. Made from a finding, or from an answer to `leaktrace why`. All text is escaped.
package struct FindingPicture: Sendable {
  /// An object, or a folded run of objects.
  package struct Row: Sendable {
    /// Path index of the first object.
    package var index: Int
    /// The object's name; for a folded run, a description of it.
    package var name: String
    /// The function that made the object, and the position there. For a closure, only the position of its code.
    package var function: String
    package var position: String
    /// The reference from the previous row or from the root; nil if none is known.
    package var reference: String?
    /// True if this is the reference to remove.
    package var isSuspect = false
    package var isFolded = false
    /// The library that the object is private to; empty for the program's objects.
    package var library: String
  }

  /// The root of the path; nil if no root reaches the object.
  package var root: String?
  package var rows: [Row] = []
  /// For a cycle: the reference from the last row to the first. `isBackSuspect`: whether this is the reference to cut.
  package var back: String?
  package var isBackSuspect = false

  /// Linear in the path.
  package init(_ finding: Finding) {
    let path = finding.path
    let retention = finding.evidence.retention
    let suspect = retention?.suspect
    let isCycle = finding.evidence.isCycle
    let cut = retention == nil ? Self.cut(finding) : nil
    root = retention.map { PlainText.escaped($0.origin.name) }
    var shown = PathFolding.rows(of: path, below: suspect, isCycle: isCycle)[...]
    if case .task(let task, _)? = shown.first {
      shown.removeFirst()
      let words = [PathFolding.name(ofTask: path[task]), PathFolding.state(ofTask: path[task])].filter { !$0.isEmpty }
      root = PlainText.escaped(words.joined(separator: ", "))
    }
    rows = Self.rows(shown, of: path)
    for index in rows.indices {
      rows[index].isSuspect = rows[index].index == suspect || cut.map { $0 + 1 == rows[index].index } ?? false
    }
    if isCycle, let last = path.last {
      back = last.reference.map { ReferenceText.words($0, to: path[0]) }
      isBackSuspect = cut == path.count - 1
    }
  }

  /// Draws one path of an answer to `why`. Linear in the path.
  package init(_ group: RetainedGroup) {
    root = PlainText.escaped(group.origin.name)
    rows = Self.rows(PathFolding.rows(of: group.path)[...], of: group.path)
  }

  private static func rows(_ rows: ArraySlice<PathFolding.Row>, of path: [Finding.Step]) -> [Row] {
    rows.map { row in
      var shown = Self.row(row, of: path)
      if shown.index > 0 {
        shown.reference = path[shown.index - 1].reference.map { ReferenceText.words($0, to: path[shown.index]) }
      }
      return shown
    }
  }

  private static func row(_ row: PathFolding.Row, of path: [Finding.Step]) -> Row {
    switch row {
    case .object(let index), .task(let index, _):
      let step = path[index]
      let place = step.kind == .closure ? step.function : step.place
      let before = step.omittedBefore.map { "… \(Decimal.grouped(UInt64($0))) more … " } ?? ""
      return Row(
        index: index, name: PlainText.escaped(before + FindingTitle.name(step)),
        function: PlainText.escaped(step.kind == .closure ? "" : place?.function ?? ""),
        position: PlainText.escaped(place?.position ?? ""), library: PlainText.escaped(step.library ?? ""))
    case .repeated(let range, let count):
      return Row(
        index: range.lowerBound, name: PathFolding.words(ofRepeated: count), function: "",
        position: "", isFolded: true, library: "")
    case .folded(let range):
      let libraries = PathFolding.libraries(path[range])
      return Row(
        index: range.lowerBound,
        name: "… \(Decimal.counted(UInt64(range.count), "step")) of \(PlainText.escaped(libraries)) …", function: "",
        position: "", isFolded: true, library: PlainText.escaped(libraries))
    }
  }

  /// Returns the step of a cycle whose reference the advice names, by a closure's position or by type and field. Nil
  /// unless exactly one step matches.
  private static func cut(_ finding: Finding) -> Int? {
    guard let advice = finding.advice.first.map(AdviceWords.sentence) else { return nil }
    let named = finding.path.indices.filter { index in
      let step = finding.path[index]
      guard let reference = step.reference else { return false }
      let closure = reference.isClosure ? reference.closure : step.kind == .closure ? step.function : nil
      if let position = closure?.position, advice.contains("closure at \(position)") { return true }
      return closure == nil && !reference.name.isEmpty && advice.contains("\(step.type).\(reference.name) weak")
    }
    return named.count == 1 ? named[0] : nil
  }
}
