// Retain paths as text.

/// Puts the answer to `leaktrace why` into lines. Only formats.
public struct RetainText {
  private let style: TextStyle

  public init(style: TextStyle = TextStyle()) { self.style = style }

  public func text(_ groups: [RetainedGroup], matches: Int, subject: String, remarks: [String]) -> String {
    var lines = TextLines(style: style)
    lines.line("\(PlainText.escaped(subject)): \(Decimal.counted(UInt64(matches), "live object")), held in \(groups.count) \(groups.count == 1 ? "way" : "ways")", emphasized: 1)
    for remark in remarks { lines.line("note: \(remark)", indent: 2) }
    lines.blank()
    for group in groups {
      lines.spread(
        PlainText.escaped(group.origin.name),
        "\(Decimal.counted(UInt64(group.instances), "object")), \(Decimal.bytes(group.retainedBytes.rawValue)) retained", indent: 0, emphasized: true)
      FindingText(style: style).write(path: group.path, to: &lines)
      lines.blank()
    }
    return lines.text
  }
}
