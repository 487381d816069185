import Foundation

extension Notification.Name {
    static let priceChanged = Notification.Name("priceChanged")
    static let currencyChanged = Notification.Name("currencyChanged")
}

final class PriceFormat {
    var symbol: String
    var factor: Double
    init(symbol: String, factor: Double) {
        self.symbol = symbol
        self.factor = factor
    }
    func string(_ cents: Int) -> String { "\(symbol)\(Int(Double(cents) * factor) / 100)" }
}

final class Market {
    private(set) var prices: [String: Int] = [:]
    private let center: NotificationCenter
    init(center: NotificationCenter) { self.center = center }

    func quote(_ ticker: String, cents: Int) {
        prices[ticker] = cents
        center.post(name: .priceChanged, object: nil, userInfo: ["ticker": ticker, "cents": cents])
    }

    func switchCurrency(_ symbol: String, factor: Double) {
        center.post(name: .currencyChanged, object: nil, userInfo: ["symbol": symbol, "factor": factor])
    }
}

final class PriceWidget {
    let ticker: String
    private let center: NotificationCenter
    private let format = PriceFormat(symbol: "$", factor: 1)
    private var priceToken: NSObjectProtocol?
    private var currencyToken: NSObjectProtocol?
    private(set) var label = ""
    private(set) var refreshes = 0

    init(ticker: String, center: NotificationCenter) {
        self.ticker = ticker
        self.center = center
    }

    func open(followsCurrency: Bool) {
        priceToken = center.addObserver(forName: .priceChanged, object: nil, queue: nil) { [weak self] note in
            guard let self, note.userInfo?["ticker"] as? String == self.ticker else { return }
            self.show(note.userInfo?["cents"] as? Int ?? 0)
        }
        if followsCurrency {
            currencyToken = center.addObserver(forName: .currencyChanged, object: nil, queue: nil) { note in
                self.format.symbol = note.userInfo?["symbol"] as? String ?? "$"
                self.format.factor = note.userInfo?["factor"] as? Double ?? 1
            }
        }
    }

    private func show(_ cents: Int) {
        label = format.string(cents)
        refreshes += 1
    }

    func close() {
        if let token = priceToken { center.removeObserver(token) }
        priceToken = nil
        currencyToken = nil
    }
}

final class Dashboard {
    private var widgets: [PriceWidget] = []
    private let center: NotificationCenter
    private(set) var refreshes = 0
    private(set) var lastLabel = ""

    init(center: NotificationCenter) { self.center = center }

    func add(_ ticker: String, followsCurrency: Bool) {
        let widget = PriceWidget(ticker: ticker, center: center)
        widget.open(followsCurrency: followsCurrency)
        widgets.append(widget)
        if widgets.count > 8 { closeOldest() }
    }

    func closeOldest() {
        guard !widgets.isEmpty else { return }
        let widget = widgets.removeFirst()
        widget.close()
        refreshes += widget.refreshes
        lastLabel = widget.label
    }

    var isEmpty: Bool { widgets.isEmpty }
}

let center = NotificationCenter()
let market = Market(center: center)
let dashboard = Dashboard(center: center)
let tickers = ["AAB", "CDE", "FGH", "IJK", "LMN"]
for n in 0..<240 {
    dashboard.add(tickers[n % tickers.count], followsCurrency: n % 8 == 6)
    for ticker in tickers { market.quote(ticker, cents: 1000 + n * 13 % 700) }
    if n % 30 == 29 { market.switchCurrency(n % 60 == 29 ? "€" : "$", factor: n % 60 == 29 ? 0.9 : 1) }
    usleep(4000)
}
while !dashboard.isEmpty { dashboard.closeOldest() }
print("refreshes \(dashboard.refreshes)")
print("last label \(dashboard.lastLabel), tickers \(market.prices.count)")
