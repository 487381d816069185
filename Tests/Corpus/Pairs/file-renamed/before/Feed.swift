// A feed whose cells and registry are private to its file.

private final class Cell {
  var tapped: (() -> Void)?
  let row: Row
  init(_ row: Row) { self.row = row }
}

private struct Row {
  var title: String
  var tags: [Tag]
}

private enum Tag { case new, old(Reason) }

private final class Reason {
  let code: Int
  init(_ code: Int) { self.code = code }
}

private final class Registry { var names: [String: Reason] = [:] }

nonisolated(unsafe) private var registry: Registry?

final class Feed {
  func show(page: Int) { fill(page) }
  @inline(never) private func fill(_ page: Int) {
    let cell = makeCell(page)
    cell.tapped = { note(cell.row.tags.count) }
    cell.tapped?()
  }
}

@inline(never) private func makeCell(_ page: Int) -> Cell {
  Cell(Row(title: "page number \(page) of the feed", tags: [.new, .old(Reason(page))]))
}

func registerFeeds() {
  let made = Registry()
  for index in 0..<6 { made.names["feed with the number \(index)"] = Reason(index) }
  registry = made
}
