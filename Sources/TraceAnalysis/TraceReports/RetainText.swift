// Retain paths as text.

import LeakDetection
import TextWriting
import TraceReading

/// Renders the answer to `leaktrace why`. Formats only; makes no decisions.
package struct RetainText {
  private let style: TextStyle

  /// Maximum number of rows of a path. For a longer path, only the rows at both ends are shown.
  private static let depthLimit = 16
  /// Maximum number of addresses to list for the objects of a way.
  private static let addressLimit = 8

  package init(style: TextStyle = TextStyle()) { self.style = style }

  package func text(_ answer: RetainAnswer, subject: String, remarks: [String]) -> String {
    var lines = TextLines(style: style)
    let ways = "\(Decimal.grouped(UInt64(answer.ways))) \(answer.ways == 1 ? "way" : "ways")"
    let shown = answer.groups.count < answer.ways ? "; the \(answer.groups.count) with most objects follow" : ""
    lines.line(
      "\(PlainText.escaped(subject)): \(Decimal.counted(UInt64(answer.matches), "live object")), held in \(ways)\(shown)",
      emphasized: 1)
    for remark in remarks { lines.line("note: \(remark)", indent: 2) }
    lines.blank()
    for group in answer.groups {
      lines.spread(
        PlainText.escaped(group.origin.name),
        "\(Decimal.counted(UInt64(group.instances), "object")), \(Decimal.bytes(group.retainedBytes.rawValue)) retained",
        indent: 0, emphasized: true,
        start: group.origin.kind == .leaked ? TintedStart(group.origin.name, .proven) : nil)
      FindingText(style: style, addresses: .shown).write(path: group.path, to: &lines, limit: Self.depthLimit)
      if group.longestPath > group.path.count, group.instances > 1 {
        lines.line(
          "A chain: the longest path to one of these objects has \(Decimal.counted(UInt64(group.longestPath), "step")).",
          indent: 2)
      }
      writeAddresses(group, to: &lines)
      lines.blank()
    }
    return lines.text
  }

  private func writeAddresses(_ group: RetainedGroup, to lines: inout TextLines) {
    guard group.instances > 1, !group.addresses.isEmpty else { return }
    let listed = group.addresses.prefix(Self.addressLimit).map { Hexadecimal.text($0.rawValue) }
    let rest = group.instances - listed.count
    lines.line(
      "Objects: \(listed.joined(separator: ", "))\(rest > 0 ? ", \(Decimal.grouped(UInt64(rest))) more" : "")",
      indent: 2)
  }
}
