import Foundation
import Dispatch

final class Price {
    let symbol: String
    let cents: Int
    init(symbol: String, cents: Int) { self.symbol = symbol; self.cents = cents }
}

final class PriceSource {
    private var calls = 0
    func fetch(_ symbol: String) -> Price {
        calls += 1
        return Price(symbol: symbol, cents: 1000 + (calls * 37) % 500)
    }
}

final class PricePoller {
    private let symbol: String
    private let source: PriceSource
    private let timer: DispatchSourceTimer
    private var latest: Price?
    private var polls = 0

    init(symbol: String, source: PriceSource, queue: DispatchQueue) {
        self.symbol = symbol
        self.source = source
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(15))
        timer.setEventHandler {
            self.poll()
        }
        timer.resume()
    }
    private func poll() {
        polls += 1
        latest = source.fetch(symbol)
    }
    var current: Int? { latest?.cents }
    deinit { timer.cancel() }
}

final class Screen {
    private var pollers: [PricePoller] = []
    init(symbols: [String], source: PriceSource, queue: DispatchQueue) {
        pollers = symbols.map { PricePoller(symbol: $0, source: source, queue: queue) }
    }
    func visible() -> Int { pollers.filter { $0.current != nil }.count }
}

final class Navigator {
    private let queue = DispatchQueue(label: "prices")
    private let source = PriceSource()
    private(set) var shown = 0
    private(set) var filled = 0
    func show(_ symbols: [String]) {
        let screen = Screen(symbols: symbols, source: source, queue: queue)
        Thread.sleep(forTimeInterval: 0.05)
        filled += queue.sync { screen.visible() }
        shown += 1
    }
}

@main
enum Terminal {
    static let navigator = Navigator()
    static func main() {
        let all = ["ACME", "BOLT", "CRUX", "DYNE", "ECHO", "FLUX", "GYRO", "HALO"]
        for round in 0..<10 {
            let symbols = (0..<4).map { all[(round * 3 + $0) % all.count] }
            navigator.show(symbols)
        }
        print("screens \(navigator.shown) prices \(navigator.filled)")
    }
}
