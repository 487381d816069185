import Foundation

final class Subscription {
    private var action: (() -> Void)?
    init(_ a: @escaping () -> Void) { action = a }
    func cancel() {
        action?()
        action = nil
    }
}

final class Cell {
    let name: String
    private(set) var value: Double
    private var formula: (([Double]) -> Double)?
    private var inputs: [Cell] = []
    private var subscriptions: [Subscription] = []
    private var observers: [Int: () -> Void] = [:]
    private var nextObserver = 0
    private(set) var recalculations = 0

    init(name: String, value: Double = 0) {
        self.name = name
        self.value = value
    }

    func observe(_ f: @escaping () -> Void) -> Subscription {
        nextObserver += 1
        let id = nextObserver
        observers[id] = f
        return Subscription { [weak self] in self?.observers[id] = nil }
    }

    func set(_ v: Double) {
        guard v != value else { return }
        value = v
        for (_, f) in observers { f() }
    }

    func bind(to cells: [Cell], _ f: @escaping ([Double]) -> Double) {
        unbind()
        formula = f
        inputs = cells
        subscriptions = cells.map { $0.observe { self.recalculate() } }
        recalculate()
    }

    func unbind() {
        subscriptions.forEach { $0.cancel() }
        subscriptions.removeAll()
        inputs.removeAll()
        formula = nil
    }

    private func recalculate() {
        guard let f = formula else { return }
        recalculations += 1
        set(f(inputs.map(\.value)))
    }
}

final class Row {
    let number: Int
    let amount: Cell
    let tax: Cell
    let total: Cell
    init(number: Int, amount: Double, taxRate: Cell, exchange: Cell) {
        self.number = number
        self.amount = Cell(name: "A\(number)", value: amount)
        tax = Cell(name: "B\(number)")
        total = Cell(name: "C\(number)")
        tax.bind(to: [self.amount, taxRate]) { $0[0] * $0[1] }
        total.bind(to: [self.amount, tax, exchange]) { ($0[0] + $0[1]) * $0[2] }
    }
}

final class Sheet {
    let taxRate = Cell(name: "TAX", value: 0.19)
    let exchange = Cell(name: "FX", value: 1.1)
    private var rows: [Row] = []
    private var serial = 0
    private(set) var deleted = 0
    private(set) var cleared = 0

    func appendRow(_ amount: Double) {
        serial += 1
        rows.append(Row(number: serial, amount: amount, taxRate: taxRate, exchange: exchange))
    }

    func clear(at i: Int) {
        let r = rows[i]
        r.tax.unbind()
        r.total.unbind()
        serial += 1
        rows[i] = Row(number: serial, amount: 0, taxRate: taxRate, exchange: exchange)
        cleared += 1
    }

    func deleteRow(at i: Int) {
        rows.remove(at: i)
        deleted += 1
    }

    func truncate(to n: Int) {
        while rows.count > n {
            let r = rows.removeFirst()
            r.tax.unbind()
            r.total.unbind()
        }
    }

    func edit(_ i: Int, _ v: Double) { rows[i].amount.set(v) }
    var count: Int { rows.count }
    var sum: Double { rows.reduce(0) { $0 + $1.total.value } }
    var work: Int { rows.reduce(0) { $0 + $1.total.recalculations } }
}

final class Accountant {
    private let sheet: Sheet
    private var n = 0
    init(_ s: Sheet) { sheet = s }

    func act() {
        n += 1
        guard sheet.count > 10 else { return sheet.appendRow(Double(n % 90)) }
        let i = (n * 13) % sheet.count
        switch n % 16 {
        case 0: sheet.clear(at: i)
        case 5: if n % 3 == 0 { sheet.deleteRow(at: i) }
        case 1, 2, 3, 4, 6: sheet.appendRow(Double(n % 250))
        case 9: sheet.exchange.set(1 + Double(n % 40) / 100)
        case 13: if n % 5 == 0 { sheet.taxRate.set(0.15 + Double(n % 6) / 100) }
        default: sheet.edit(i, Double((n * 7) % 400))
        }
        sheet.truncate(to: 80)
    }
}

func work(on sheet: Sheet) {
    let accountant = Accountant(sheet)
    for i in 0..<3200 {
        accountant.act()
        if i % 5 == 0 { usleep(3_000) }
    }
    print("rows \(sheet.count) deleted \(sheet.deleted) cleared \(sheet.cleared) work \(sheet.work)")
    print(String(format: "sum %.2f", sheet.sum))
}

let sheet = Sheet()
work(on: sheet)
