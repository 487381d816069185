import Foundation

struct Tick: Sendable {
    let order: Int
    let cents: Int
}

actor PriceHub {
    static let shared = PriceHub()

    private struct Outlet {
        let order: Int
        let continuation: AsyncStream<Tick>.Continuation
    }

    private var outlets: [Outlet] = []
    private(set) var ended = 0

    func ticks(for order: Int) -> AsyncStream<Tick> {
        let (stream, continuation) = AsyncStream<Tick>.makeStream(bufferingPolicy: .bufferingNewest(8))
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            Task { await self.drop(order) }
        }
        outlets.append(Outlet(order: order, continuation: continuation))
        return stream
    }

    func publish(round: Int) {
        for outlet in outlets {
            outlet.continuation.yield(Tick(order: outlet.order, cents: 1_000 + outlet.order * 3 + round))
        }
    }

    func settle(_ order: Int) {
        for outlet in outlets where outlet.order == order {
            outlet.continuation.finish()
        }
    }

    private func drop(_ order: Int) {
        outlets.removeAll { $0.order == order }
        ended += 1
    }
}

actor OrderRow {
    let order: Int
    private var last = 0
    private var low = Int.max
    private(set) var samples = 0

    init(order: Int) {
        self.order = order
    }

    func follow(_ ticks: AsyncStream<Tick>) {
        Task {
            for await tick in ticks {
                last = tick.cents
                low = min(low, tick.cents)
                samples += 1
            }
        }
    }

    func text() -> String {
        "#\(order) last \(last) low \(low)"
    }
}

struct OrderTable {
    static let pageSize = 40
    private(set) var rows: [OrderRow] = []
    private(set) var pagesLoaded = 0

    mutating func load(page: Int) async {
        rows.removeAll(keepingCapacity: true)
        for offset in 0..<Self.pageSize {
            let row = OrderRow(order: page * Self.pageSize + offset)
            await row.follow(PriceHub.shared.ticks(for: row.order))
            rows.append(row)
        }
        pagesLoaded += 1
    }

    func waitForSamples(_ count: Int) async {
        for row in rows {
            while await row.samples < count {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    mutating func unload() {
        rows.removeAll()
    }
}

@main
struct Ticker {
    static func main() async {
        let hub = PriceHub.shared
        var table = OrderTable()
        var filled = 0
        for page in 0..<4 {
            await table.load(page: page)
            await hub.publish(round: page)
            await hub.publish(round: -page)
            await table.waitForSamples(2)
            print(await table.rows[page].text())
            for row in table.rows where row.order % 4 == 1 {
                await hub.settle(row.order)
                filled += 1
            }
            while await hub.ended < filled {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        table.unload()
        try? await Task.sleep(for: .milliseconds(15))
        print("pages \(table.pagesLoaded), filled \(filled), rows on screen \(table.rows.count)")
    }
}
