// A local closure that calls itself through the variable that holds it.

final class Crawler {
  private(set) var visited = 0
  func visit(_ page: Int) { visited += page }
}

enum RecursiveClosure: FaultyProgram {
  static func faulty() { for depth in 0..<4 { crawl(depth + 2) } }
  static func correct() { for depth in 0..<4 { crawlWithFunction(depth + 2) } }

  @inline(never) private static func crawl(_ depth: Int) {
    let crawler = Crawler()
    var step: ((Int) -> Void)?
    step = { remaining in
      crawler.visit(remaining)
      if remaining > 0 { step?(remaining - 1) }
    }
    step?(depth)
    note(crawler.visited)
  }

  @inline(never) private static func crawlWithFunction(_ depth: Int) {
    let crawler = Crawler()
    func step(_ remaining: Int) {
      crawler.visit(remaining)
      if remaining > 0 { step(remaining - 1) }
    }
    step(depth)
    note(crawler.visited)
  }
}
