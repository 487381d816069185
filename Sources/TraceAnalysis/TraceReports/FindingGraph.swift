// Findings, and answers to `why`, as graphs for GraphViz.

import LeakDetection
import TextWriting
import TraceReading

/// Paths as GraphViz graphs. A box is an object of the shown instance, an arrow is a reference, and a cluster is a
/// finding or one path of an answer. As in the text, library objects between the program's objects are folded into one
/// box.
package enum FindingGraph {
  /// Returns one graph with all findings. Linear.
  package static func dot(_ findings: [Finding]) -> String {
    dot(findings.map { (heading(of: $0), FindingPicture($0), $0.evidence.isCycle) })
  }

  /// Returns one graph with all paths of an answer. Linear.
  package static func dot(_ answer: RetainAnswer) -> String {
    dot(answer.groups.map { ([extent($0.instances, $0.retainedBytes)], FindingPicture($0), false) })
  }

  private static func dot(_ clusters: [(heading: [String], picture: FindingPicture, isCycle: Bool)]) -> String {
    var text = """
      digraph leaks {
        node [shape=box fontname="sans-serif" fontsize=11]
        edge [fontname="sans-serif" fontsize=10]

      """
    for (number, cluster) in clusters.enumerated() {
      text += "  subgraph cluster_\(number) {\n    label=\(quoted(cluster.heading))\n    fontname=\"sans-serif\"\n"
      text +=
        Cluster(cluster.picture, isCycle: cluster.isCycle, number: number).lines.map { "    \($0)\n" }.joined()
        + "  }\n"
    }
    return text + "}\n"
  }

  private static func heading(of finding: Finding) -> [String] {
    [FindingDocument.headline(finding), extent(finding.instances, finding.retainedBytes)]
  }

  private static func extent(_ instances: Int, _ retained: ByteCount) -> String {
    "\(Decimal.counted(UInt64(instances), "instance")), \(Decimal.bytes(retained.rawValue)) retained"
  }

  /// Returns lines of text as one GraphViz string. In such a string, a backslash begins an escape, such as a line
  /// break.
  private static func quoted(_ lines: [String]) -> String {
    let escaped = lines.filter { !$0.isEmpty }.map {
      PlainText.escaped($0).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
    return "\"\(escaped.joined(separator: "\\n"))\""
  }

  /// The GraphViz statements for one path.
  private struct Cluster {
    private(set) var lines: [String] = []
    private let number: Int

    init(_ picture: FindingPicture, isCycle: Bool, number: Int) {
      self.number = number
      var previous: String?
      if let root = picture.root {
        lines.append("f\(number)_root [shape=ellipse label=\(quoted([root]))]")
        previous = "f\(number)_root"
      }
      for row in picture.rows {
        let id = "f\(number)_\(row.index)"
        let style = row.isFolded ? "style=dashed " : ""
        lines.append("\(id) [\(style)label=\(quoted([row.name, row.function, row.position]))]")
        if let source = previous { link(source, id, row.reference, isSuspect: row.isSuspect) }
        previous = id
      }
      if isCycle, let last = previous {
        link(last, "f\(number)_0", picture.back, isSuspect: picture.isBackSuspect)
      }
    }

    private mutating func link(_ source: String, _ target: String, _ words: String?, isSuspect: Bool) {
      var attributes = words.map { ["label=\(quoted([$0]))"] } ?? []
      if isSuspect { attributes += ["color=red", "penwidth=2"] }
      lines.append("\(source) -> \(target)" + (attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]"))
    }
  }
}
