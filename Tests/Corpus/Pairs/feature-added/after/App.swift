final class Exporter {
  var finished: (() -> Void)?
  var pages: [Page] = []
}

final class Page {
  let number: Int
  init(_ number: Int) { self.number = number }
}

@main enum App {
  static func main() {
    for _ in 0..<10 { edit() }
    for number in 1...60 { export(number) }
  }

  @inline(never) static func export(_ number: Int) {
    let exporter = Exporter()
    exporter.pages.append(Page(number))
    exporter.finished = { note(exporter.pages.count) }
    exporter.finished?()
  }
}
