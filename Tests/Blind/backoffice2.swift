import Foundation

extension Notification.Name {
    static let orderShipped = Notification.Name("warehouse.orderShipped")
    static let stockCounted = Notification.Name("warehouse.stockCounted")
}

struct Order {
    let number: Int
    let region: Int
    var shipped = false
}

final class OrderStore {
    private(set) var orders: [Int: Order] = [:]
    private var stock = 10_000

    func add(number: Int, region: Int) {
        orders[number] = Order(number: number, region: region)
    }

    func ship(_ number: Int) {
        guard orders[number]?.shipped == false else { return }
        orders[number]!.shipped = true
        stock -= 1
        NotificationCenter.default.post(name: .orderShipped, object: self, userInfo: ["number": number])
    }

    func recount() {
        NotificationCenter.default.post(name: .stockCounted, object: self, userInfo: ["stock": stock])
    }

    func pending(in region: Int) -> [Order] {
        orders.values.filter { $0.region == region && !$0.shipped }
    }
}

final class RegionPanel {
    let region: Int
    private let store: OrderStore
    private var lines: [String] = []
    private var stock = 0
    private var tokens: [NSObjectProtocol] = []
    private(set) var reloads = 0

    init(region: Int, store: OrderStore) {
        self.region = region
        self.store = store
    }

    func show() {
        let center = NotificationCenter.default
        tokens.append(center.addObserver(forName: .orderShipped, object: store, queue: nil) { note in
            guard let number = note.userInfo?["number"] as? Int,
                  self.store.orders[number]?.region == self.region else { return }
            self.reload()
        })
        tokens.append(center.addObserver(forName: .stockCounted, object: store, queue: nil) { note in
            self.stock = note.userInfo?["stock"] as? Int ?? self.stock
        })
        reload()
    }

    private func reload() {
        reloads += 1
        lines = store.pending(in: region).map { "order \($0.number)" }.sorted()
    }

    func close() -> Int {
        tokens.forEach(NotificationCenter.default.removeObserver)
        tokens.removeAll()
        return reloads
    }
}

final class ControlRoom {
    private let store: OrderStore
    private var pinned: [RegionPanel] = []
    private(set) var reloads = 0

    init(store: OrderStore) {
        self.store = store
    }

    func pin(_ regions: Range<Int>) {
        for region in regions {
            let panel = RegionPanel(region: region, store: store)
            panel.show()
            pinned.append(panel)
        }
    }

    func inspect(_ region: Int, during work: () -> Void) {
        let panel = RegionPanel(region: region, store: store)
        panel.show()
        defer { reloads += panel.close() }
        work()
    }

    func endOfDay() {
        for panel in pinned {
            reloads += panel.close()
        }
        pinned.removeAll()
    }
}

func workday() -> String {
    let store = OrderStore()
    let room = ControlRoom(store: store)
    for number in 0..<720 {
        store.add(number: number, region: number % 12)
    }
    room.pin(0..<12)
    for hour in 0..<9 {
        room.inspect(hour % 12) {
            for number in stride(from: hour, to: 720, by: 9) {
                store.ship(number)
            }
            store.recount()
            Thread.sleep(forTimeInterval: 0.08)
        }
    }
    room.endOfDay()
    let shipped = store.orders.values.filter(\.shipped).count
    return "shipped \(shipped), reloads \(room.reloads)"
}

print(workday())
