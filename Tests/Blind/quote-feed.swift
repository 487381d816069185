import Foundation

struct Quote: Sendable {
    let symbol: String
    let price: Int
}

final class PriceModel {
    private var state: UInt32 = 99
    func next(_ symbol: String) -> Quote {
        state = state &* 1664525 &+ 1013904223
        return Quote(symbol: symbol, price: Int(state >> 24))
    }
}

actor QuoteFeed {
    static let shared = QuoteFeed()

    private var continuations: [Int: AsyncStream<Quote>.Continuation] = [:]
    private let model = PriceModel()
    private var nextID = 0

    func subscribe() -> AsyncStream<Quote> {
        nextID += 1
        let id = nextID
        let (stream, continuation) = AsyncStream.makeStream(of: Quote.self, bufferingPolicy: .bufferingNewest(4))
        continuations[id] = continuation
        return stream
    }

    func publish(_ symbol: String) {
        let quote = model.next(symbol)
        for continuation in continuations.values {
            continuation.yield(quote)
        }
    }

    var subscriberCount: Int { continuations.count }
}

final class PriceChart {
    private(set) var points: [Int] = []
    func add(_ quote: Quote) {
        points.append(quote.price)
        if points.count > 10 { points.removeFirst() }
    }
}

func watchPrices(limit: Int) async -> Int {
    let chart = PriceChart()
    let stream = await QuoteFeed.shared.subscribe()
    let publisher = Task {
        for n in 0..<limit {
            await QuoteFeed.shared.publish(n % 2 == 0 ? "ACME" : "INIT")
            await Task.yield()
        }
    }
    var seen = 0
    for await quote in stream {
        chart.add(quote)
        seen += 1
        if seen >= 3 { break }
    }
    _ = await publisher.value
    return chart.points.count
}

@main
struct Main {
    static func main() async {
        var points = 0
        for _ in 0..<40 {
            points += await watchPrices(limit: 6)
        }
        print("points \(points) subscribers \(await QuoteFeed.shared.subscriberCount)")
    }
}
