// Tests that leak nothing, although the prices that they look up stay in a cache.

import LeakTraceTesting
import Testing

final class Price: Sendable {
  let cents: Int
  init(cents: Int) { self.cents = cents }
}

actor PriceList {
  static let shared = PriceList()
  private var known: [Int: Price] = [:]

  func price(_ article: Int) -> Price {
    if let price = known[article] { return price }
    let price = Price(cents: article * 3)
    known[article] = price
    return price
  }
}

@Suite struct PriceTests {
  @Test(.noLeaks) func looksUp() async {
    for article in 0..<50 { #expect(await PriceList.shared.price(article).cents == 3 * article) }
  }

  @Test(.noLeaks) func looksUpMore() async {
    for article in 40..<90 { #expect(await PriceList.shared.price(article).cents == 3 * article) }
  }
}

@main struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
