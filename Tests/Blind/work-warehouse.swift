import Foundation

final class Supplier {
    let name: String
    private(set) var delivered = 0
    init(name: String) { self.name = name }

    func deliver(_ quantity: Int) -> Int {
        delivered += quantity
        return quantity
    }
}

final class Lot {
    let number: Int
    let product: Int
    let expiresOn: Int?
    private(set) var quantity: Int
    var onEmpty: (() -> Void)?

    init(number: Int, product: Int, quantity: Int, expiresOn: Int?) {
        self.number = number
        self.product = product
        self.quantity = quantity
        self.expiresOn = expiresOn
    }

    func take(_ wanted: Int) -> Int {
        let taken = min(wanted, quantity)
        quantity -= taken
        if quantity == 0 { onEmpty?() }
        return taken
    }

    func writeOff() -> Int {
        let rest = quantity
        quantity = 0
        return rest
    }
}

final class Shelf {
    let product: Int
    let supplier: Supplier
    private(set) var lots: [Lot] = []
    private var emptied = Set<Int>()
    private(set) var wasted = 0

    init(product: Int, supplier: Supplier) {
        self.product = product
        self.supplier = supplier
    }

    var stock: Int { lots.reduce(0) { $0 + $1.quantity } }

    func add(_ lot: Lot) {
        if lot.expiresOn != nil {
            lot.onEmpty = { [weak self, unowned lot] in
                self?.emptied.insert(lot.number)
            }
        } else {
            lot.onEmpty = { [weak self] in
                self?.emptied.insert(lot.number)
            }
        }
        lots.append(lot)
    }

    func pick(_ quantity: Int) -> Int {
        var missing = quantity
        for lot in lots where missing > 0 { missing -= lot.take(missing) }
        if !emptied.isEmpty {
            lots.removeAll { emptied.contains($0.number) }
            emptied.removeAll()
        }
        return quantity - missing
    }

    func inspect(day: Int) {
        for lot in lots {
            if let date = lot.expiresOn, date < day { wasted += lot.writeOff() }
        }
        lots.removeAll { $0.quantity == 0 }
    }
}

final class PickLine {
    let product: Int
    let wanted: Int
    var picked = 0
    init(product: Int, wanted: Int) {
        self.product = product
        self.wanted = wanted
    }
}

final class CustomerOrder {
    let id: Int
    let lines: [PickLine]
    init(id: Int, lines: [PickLine]) {
        self.id = id
        self.lines = lines
    }
    var complete: Bool { lines.allSatisfy { $0.picked == $0.wanted } }
}

final class Warehouse {
    private var shelves: [Shelf] = []
    private var backlog: [CustomerOrder] = []
    private var lotNumber = 0
    private(set) var shipped = 0
    private(set) var dropped = 0

    init(products: Int) {
        let suppliers = ["north", "south", "harbour"].map { Supplier(name: $0) }
        shelves = (0..<products).map { Shelf(product: $0, supplier: suppliers[$0 % 3]) }
    }

    func restock(day: Int) {
        for shelf in shelves where shelf.stock < 30 {
            lotNumber += 1
            let perishable = shelf.product % 5 != 0
            let quantity = shelf.supplier.deliver(20 + lotNumber % 25)
            shelf.add(Lot(number: lotNumber, product: shelf.product, quantity: quantity,
                          expiresOn: perishable ? day + 9 : nil))
        }
    }

    func inspect(day: Int) { shelves.forEach { $0.inspect(day: day) } }

    func receive(_ order: CustomerOrder) { backlog.append(order) }

    func work() {
        var waiting: [CustomerOrder] = []
        for order in backlog {
            for line in order.lines where line.picked < line.wanted {
                line.picked += shelves[line.product].pick(line.wanted - line.picked)
            }
            if order.complete { shipped += 1 } else { waiting.append(order) }
        }
        if waiting.count > 40 {
            dropped += waiting.count - 40
            waiting.removeFirst(waiting.count - 40)
        }
        backlog = waiting
    }

    func stocktake() -> (units: Int, wasted: Int, lots: Int) {
        (shelves.reduce(0) { $0 + $1.stock }, shelves.reduce(0) { $0 + $1.wasted }, lotNumber)
    }
}

func operate(days: Int) {
    let warehouse = Warehouse(products: 40)
    var seed: UInt64 = 1_212
    func draw(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 33) % UInt64(n))
    }
    var orderId = 0
    for day in 0..<days {
        warehouse.restock(day: day)
        for _ in 0..<(10 + draw(12)) {
            orderId += 1
            let lines = (0..<(1 + draw(4))).map { _ in PickLine(product: draw(40), wanted: 1 + draw(9)) }
            warehouse.receive(CustomerOrder(id: orderId, lines: lines))
        }
        warehouse.work()
        warehouse.inspect(day: day)
        usleep(10_000)
    }
    let result = warehouse.stocktake()
    print("orders \(orderId), shipped \(warehouse.shipped), dropped \(warehouse.dropped)")
    print("units \(result.units), wasted \(result.wasted), lots \(result.lots)")
}

operate(days: 180)
