import Foundation

final class Quote: Sendable {
    let symbol: String
    let tick: Int
    let bid: Int
    let ask: Int

    init(symbol: String, tick: Int, bid: Int, ask: Int) {
        self.symbol = symbol
        self.tick = tick
        self.bid = bid
        self.ask = ask
    }
}

struct Walk {
    let symbol: String
    var price: Int
    var seed: UInt32

    mutating func step() -> Int {
        seed = seed &* 22695477 &+ 1
        price = max(100, price + Int(seed >> 16) % 21 - 10)
        return price
    }
}

final class Exchange {
    let quotes: AsyncStream<Quote>
    private let continuation: AsyncStream<Quote>.Continuation
    private var walks: [Walk]
    private(set) var published = 0
    private(set) var skipped = 0

    init(symbols: [String]) {
        (quotes, continuation) = AsyncStream.makeStream(
            of: Quote.self,
            bufferingPolicy: .bufferingNewest(32)
        )
        walks = symbols.enumerated().map { index, symbol in
            Walk(symbol: symbol, price: 1000 + 250 * index, seed: UInt32(17 + index * 1009))
        }
    }

    func tick(_ number: Int) {
        for index in walks.indices {
            let price = walks[index].step()
            let quote = Quote(symbol: walks[index].symbol, tick: number, bid: price - 1, ask: price + 1)
            published += 1
            if case .dropped = continuation.yield(quote) {
                skipped += 1
            }
        }
    }
}

struct Screen {
    private(set) var last: [String: Int] = [:]
    private(set) var painted = 0
    private(set) var widestSpread = 0

    mutating func paint(_ quote: Quote) {
        last[quote.symbol] = quote.bid
        widestSpread = max(widestSpread, quote.ask - quote.bid)
        painted += 1
    }
}

let exchange = Exchange(symbols: ["ACME", "BOLT", "CORK", "DUNE", "ECHO", "FLUX"])

@main
struct Ticker {
    static func main() async {
        var screen = Screen()
        var iterator = exchange.quotes.makeAsyncIterator()

        for number in 0..<500 {
            exchange.tick(number)
            for _ in 0..<2 {
                if let quote = await iterator.next() { screen.paint(quote) }
            }
            if number % 10 == 0 { usleep(1000) }
        }

        print("published \(exchange.published), painted \(screen.painted), skipped \(exchange.skipped)")
        for (symbol, bid) in screen.last.sorted(by: { $0.key < $1.key }) {
            print("\(symbol) \(bid)")
        }
        print("widest spread \(screen.widestSpread)")
    }
}
