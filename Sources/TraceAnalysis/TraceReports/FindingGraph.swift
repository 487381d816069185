// Findings as graphs for GraphViz.

import LeakDetection
import TraceReading

/// Findings in GraphViz's language: a box an object of the shown instance, an arrow a reference, a cluster a finding.
/// Objects that a library put between the program's are one box, as in the text.
package enum FindingGraph {
  /// One graph with all findings. Linear.
  package static func dot(_ findings: [Finding]) -> String {
    var text = """
      digraph leaks {
        node [shape=box fontname="sans-serif" fontsize=11]
        edge [fontname="sans-serif" fontsize=10]

      """
    for (number, finding) in findings.enumerated() {
      text += "  subgraph cluster_\(number) {\n    label=\(quoted(heading(of: finding)))\n    fontname=\"sans-serif\"\n"
      text += Cluster(finding, number: number).lines.map { "    \($0)\n" }.joined() + "  }\n"
    }
    return text + "}\n"
  }

  private static func heading(of finding: Finding) -> [String] {
    let extent = [
      Decimal.counted(UInt64(finding.instances), "instance"),
      "\(Decimal.bytes(finding.retainedBytes.rawValue)) retained",
    ]
    return [FindingDocument.headline(finding), extent.joined(separator: ", ")]
  }

  /// Lines of text as one string of GraphViz's, in which a backslash begins an escape such as that of a line's end.
  private static func quoted(_ lines: [String]) -> String {
    let escaped = lines.filter { !$0.isEmpty }.map {
      PlainText.escaped($0).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
    return "\"\(escaped.joined(separator: "\\n"))\""
  }

  /// The statements for one finding.
  private struct Cluster {
    private(set) var lines: [String] = []
    private let finding: Finding
    private let number: Int

    init(_ finding: Finding, number: Int) {
      (self.finding, self.number) = (finding, number)
      let path = finding.path
      let suspect = finding.outliving?.suspect
      let rows = PathFolding.rows(of: path, below: suspect, isCycle: finding.isCycle)
      var previous: String?
      if let outliving = finding.outliving {
        lines.append("f\(number)_root [shape=ellipse label=\(quoted([outliving.origin.name]))]")
        previous = "f\(number)_root"
      }
      for row in rows {
        let (first, id) = node(row)
        let reference = first > 0 ? path[first - 1].reference.map { ReferenceText.words($0, to: path[first]) } : nil
        if let source = previous { link(source, id, reference, isSuspect: first == suspect) }
        previous = id
      }
      if finding.isCycle, let last = previous, let first = path.first {
        link(last, "f\(number)_0", path.last?.reference.map { ReferenceText.words($0, to: first) }, isSuspect: false)
      }
    }

    /// Adds the box of a row. Gives the index of its first object, and the box's name.
    private mutating func node(_ row: PathFolding.Row) -> (first: Int, id: String) {
      switch row {
      case .object(let index):
        let step = finding.path[index]
        let place = step.kind == .closure ? step.function : step.place
        let words = [
          step.omittedBefore.map { "… \(Decimal.grouped(UInt64($0))) more before" } ?? "", FindingTitle.name(step),
          step.kind == .closure ? "" : place?.function ?? "", Advice.position(place) ?? "",
        ]
        lines.append("f\(number)_\(index) [label=\(quoted(words))]")
        return (index, "f\(number)_\(index)")
      case .folded(let range):
        let words =
          "… \(Decimal.counted(UInt64(range.count), "step")) of \(PathFolding.libraries(finding.path[range])) …"
        lines.append("f\(number)_\(range.lowerBound) [style=dashed label=\(quoted([words]))]")
        return (range.lowerBound, "f\(number)_\(range.lowerBound)")
      }
    }

    private mutating func link(_ source: String, _ target: String, _ words: String?, isSuspect: Bool) {
      var attributes = words.map { ["label=\(quoted([$0]))"] } ?? []
      if isSuspect { attributes += ["color=red", "penwidth=2"] }
      lines.append("\(source) -> \(target)" + (attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]"))
    }
  }
}
