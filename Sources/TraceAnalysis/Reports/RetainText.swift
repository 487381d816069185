// Retain paths as text.

/// Puts the answer to `leaktrace why` into lines. Only formats.
public struct RetainText {
  private let style: TextStyle

  /// Longer paths are shown at both ends.
  private static let depthLimit = 16

  public init(style: TextStyle = TextStyle()) { self.style = style }

  public func text(_ answer: RetainAnswer, subject: String, remarks: [String]) -> String {
    var lines = TextLines(style: style)
    let ways = "\(Decimal.grouped(UInt64(answer.ways))) \(answer.ways == 1 ? "way" : "ways")"
    let shown = answer.groups.count < answer.ways ? "; the \(answer.groups.count) with most objects follow" : ""
    lines.line("\(PlainText.escaped(subject)): \(Decimal.counted(UInt64(answer.matches), "live object")), held in \(ways)\(shown)", emphasized: 1)
    for remark in remarks { lines.line("note: \(remark)", indent: 2) }
    lines.blank()
    for group in answer.groups {
      lines.spread(
        PlainText.escaped(group.origin.name),
        "\(Decimal.counted(UInt64(group.instances), "object")), \(Decimal.bytes(group.retainedBytes.rawValue)) retained", indent: 0, emphasized: true)
      FindingText(style: style).write(path: group.path, to: &lines, limit: Self.depthLimit)
      lines.blank()
    }
    return lines.text
  }
}
