// Panes that close with a wrong token stay subscribed. Each price goes to all tickers in a loop.

private final class PriceTicker {
  let symbol: String
  private(set) var highest = 0
  init(symbol: String) { self.symbol = symbol }
  func show(_ price: Int) { highest = max(highest, price) }
}

private final class PriceHub {
  nonisolated(unsafe) static let shared = PriceHub()
  private var tickers: [Int: PriceTicker] = [:]
  private var lastToken = 0

  func subscribe(_ ticker: PriceTicker) -> Int {
    lastToken += 1
    tickers[lastToken] = ticker
    return lastToken
  }
  func unsubscribe(_ token: Int) { tickers[token] = nil }
  func publish(_ price: Int) { for ticker in tickers.values { ticker.show(price) } }
}

private final class TradingDesk {
  nonisolated(unsafe) static let shared = TradingDesk()
  private var tokens: [Int] = []

  func open(_ number: Int, keepingToken: Bool) {
    let token = PriceHub.shared.subscribe(PriceTicker(symbol: "symbol \(number % 40)"))
    tokens.append(keepingToken ? token : -token)
  }
  func closeOldest() { if tokens.count > 5 { PriceHub.shared.unsubscribe(tokens.removeFirst()) } }
}

enum PriceTickers: FaultyProgram {
  static func faulty() { for minute in 0..<480 { trade(minute, keepingToken: minute % 4 > 0) } }
  static func correct() { for minute in 0..<480 { trade(minute, keepingToken: true) } }

  @inline(never) private static func trade(_ minute: Int, keepingToken: Bool) {
    TradingDesk.shared.open(minute, keepingToken: keepingToken)
    PriceHub.shared.publish(minute * 13 % 500)
    TradingDesk.shared.closeOldest()
  }
}
