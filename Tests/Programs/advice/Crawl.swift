// A closure that calls itself by the variable that holds it.

final class Crawl {
  var pages: [Int] = []

  @inline(never) static func begin() {
    for number in 0..<4 {
      let crawl = Crawl()
      var step: ((Int) -> Void)?
      step = { depth in
        crawl.pages.append(depth)  // to change
        if depth > 0 { step?(depth - 1) }
      }
      step?(number)
      #if MENDED
        step = nil
      #endif
    }
  }
}
