import Foundation

final class Cell {
    let name: String
    weak var sheet: Sheet?
    private(set) var value: Double = 0
    private(set) var formula: Formula?
    var observers: [ObjectIdentifier: Formula] = [:]

    init(name: String, sheet: Sheet) {
        self.name = name
        self.sheet = sheet
    }

    func set(_ newValue: Double) {
        guard newValue != value else { return }
        value = newValue
        for observer in observers.values { observer.recompute() }
    }

    func set(_ newFormula: Formula) {
        formula?.unbind()
        formula = newFormula
        newFormula.bind(to: self)
        newFormula.recompute()
    }
}

final class Formula {
    let precedents: [Cell]
    let evaluate: ([Double]) -> Double
    private weak var owner: Cell?

    init(_ precedents: [Cell], _ evaluate: @escaping ([Double]) -> Double) {
        self.precedents = precedents
        self.evaluate = evaluate
    }

    func bind(to cell: Cell) {
        owner = cell
        for precedent in precedents { precedent.observers[ObjectIdentifier(self)] = self }
    }

    func unbind() {
        guard let sheet = owner?.sheet else { return }
        for precedent in precedents {
            sheet.cells[precedent.name]?.observers[ObjectIdentifier(self)] = nil
        }
    }

    func recompute() {
        guard let owner, owner.formula === self else { return }
        owner.set(evaluate(precedents.map(\.value)))
    }
}

final class Sheet {
    let title: String
    private(set) var cells: [String: Cell] = [:]
    init(title: String) { self.title = title }

    func cell(_ name: String) -> Cell {
        if let existing = cells[name] { return existing }
        let created = Cell(name: name, sheet: self)
        cells[name] = created
        return created
    }
}

final class Workbook {
    private(set) var sheets: [String: Sheet] = [:]
    func sheet(_ title: String) -> Sheet {
        if let existing = sheets[title] { return existing }
        let created = Sheet(title: title)
        sheets[title] = created
        return created
    }
}

final class Session {
    let book = Workbook()
    private(set) var edits = 0

    func enterPrices(_ count: Int) {
        for row in 0..<count {
            book.sheet("Prices").cell("P\(row)").set(Double(10 + row))
            book.sheet("Summary").cell("Q\(row)").set(Double(1 + row % 4))
        }
    }

    func rewrite(_ step: Int) {
        let summary = book.sheet("Summary")
        let target = summary.cell("T\(step % 20)")
        let quantity = summary.cell("Q\(step % 30)")
        let factor = Double(1 + step % 3)
        if step % 4 == 0 {
            let price = book.sheet("Prices").cell("P\(step % 30)")
            target.set(Formula([price, quantity]) { $0[0] * $0[1] * factor })
        } else {
            target.set(Formula([quantity, summary.cell("Q0")]) { ($0[0] + $0[1]) * factor })
        }
        edits += 1
    }

    func total() -> Double {
        (0..<20).reduce(0) { $0 + book.sheet("Summary").cell("T\($1)").value }
    }
}

let session = Session()
session.enterPrices(30)
for step in 0..<500 {
    session.rewrite(step)
    if step % 25 == 0 { session.book.sheet("Prices").cell("P\(step % 30)").set(Double(step)) }
    usleep(2000)
}
print("edits \(session.edits)")
print("total \(session.total())")
