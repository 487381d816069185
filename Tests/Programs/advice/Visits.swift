// A table of current visits, whose entries are never removed.

final class Visit {
  let number: Int
  var pages: [Int] = []
  init(_ number: Int) { self.number = number }
}

final class Visits {
  nonisolated(unsafe) static let shared = Visits()
  private var open: [Int: Visit] = [:]

  @inline(never) func begin(_ number: Int) -> Visit {
    let visit = Visit(number)
    open[number] = visit
    return visit
  }

  @inline(never) func end(_ visit: Visit) {
    #if MENDED
      open[visit.number] = nil
    #endif
    if visit.pages.count > 10 { print(open.count) }
  }

  @inline(never) static func serve() {
    for number in 0..<400 {
      let visit = shared.begin(number)
      for page in 0..<4 { visit.pages.append(page) }
      shared.end(visit)
    }
  }
}
