import Foundation

struct Address: Hashable {
    let column: Int
    let row: Int
}

enum Formula {
    case constant(Double)
    case sum([Address])
    case product(Address, Address)
}

final class WeakCell {
    weak var cell: SheetCell?
    init(_ cell: SheetCell) { self.cell = cell }
}

final class SheetCell {
    let address: Address
    private(set) var formula: Formula
    private(set) var inputs: [SheetCell] = []
    private var dependents: [WeakCell] = []
    private(set) var value = 0.0
    private(set) var evaluations = 0

    init(address: Address, formula: Formula) {
        self.address = address
        self.formula = formula
    }

    func assign(_ formula: Formula, inputs: [SheetCell]) {
        for input in self.inputs { input.dependents.removeAll { $0.cell === self || $0.cell == nil } }
        self.formula = formula
        self.inputs = inputs
        for input in inputs { input.dependents.append(WeakCell(self)) }
    }

    func recalculate() {
        evaluations += 1
        let old = value
        switch formula {
        case .constant(let number): value = number
        case .sum: value = inputs.reduce(0) { $0 + $1.value }
        case .product: value = inputs.reduce(1) { $0 * $1.value }
        }
        if value.isNaN || abs(value) > 1e12 { value = 0 }
        if value != old { for dependent in dependents { dependent.cell?.recalculate() } }
    }
}

final class Edit {
    let address: Address
    let before: Formula?
    let after: Formula
    init(address: Address, before: Formula?, after: Formula) {
        self.address = address
        self.before = before
        self.after = after
    }
}

final class EditHistory {
    private var undoStack: [Edit] = []
    private var redoStack: [Edit] = []
    private let limit: Int
    init(limit: Int) { self.limit = limit }
    func push(_ edit: Edit) {
        undoStack.append(edit)
        if undoStack.count > limit { undoStack.removeFirst(undoStack.count - limit) }
        redoStack.removeAll()
    }
    func undo() -> Edit? {
        guard let edit = undoStack.popLast() else { return nil }
        redoStack.append(edit)
        return edit
    }
    func redo() -> Edit? {
        guard let edit = redoStack.popLast() else { return nil }
        undoStack.append(edit)
        return edit
    }
}

final class Sheet {
    private var cells: [Address: SheetCell] = [:]
    private let history = EditHistory(limit: 40)

    private func inputs(of formula: Formula) -> [SheetCell] {
        let addresses: [Address]
        switch formula {
        case .constant: addresses = []
        case .sum(let list): addresses = list
        case .product(let a, let b): addresses = [a, b]
        }
        return addresses.compactMap { cells[$0] }
    }

    private func write(_ formula: Formula, at address: Address) {
        let cell = cells[address] ?? SheetCell(address: address, formula: formula)
        cells[address] = cell
        cell.assign(formula, inputs: inputs(of: formula))
        cell.recalculate()
    }

    func set(_ formula: Formula, at address: Address) {
        history.push(Edit(address: address, before: cells[address]?.formula, after: formula))
        write(formula, at: address)
    }

    func undo() {
        guard let edit = history.undo() else { return }
        write(edit.before ?? .constant(0), at: edit.address)
    }

    func redo() {
        guard let edit = history.redo() else { return }
        write(edit.after, at: edit.address)
    }

    func clear(row: Int) {
        for address in cells.keys where address.row == row { cells[address] = nil }
    }

    func value(_ column: Int, _ row: Int) -> Double { cells[Address(column: column, row: row)]?.value ?? 0 }
    var count: Int { cells.count }
    var evaluations: Int { cells.values.reduce(0) { $0 + $1.evaluations } }
}

func calculate() {
    let sheet = Sheet()
    var checksum = 0.0
    for step in 0..<900 {
        let row = step % 45
        sheet.set(.constant(Double(step % 37)), at: Address(column: 0, row: row))
        sheet.set(.constant(Double(step % 11) + 0.5), at: Address(column: 1, row: row))
        sheet.set(.product(Address(column: 0, row: row), Address(column: 1, row: row)), at: Address(column: 2, row: row))
        if row >= 3 {
            let parts = (row - 3..<row).map { Address(column: 2, row: $0) }
            sheet.set(.sum(parts), at: Address(column: 3, row: row))
        }
        if step % 5 == 1 {
            sheet.undo()
            sheet.undo()
            sheet.redo()
        }
        if step % 60 == 59 { sheet.clear(row: (step / 60) * 7 % 45) }
        checksum += sheet.value(3, row)
        usleep(2100)
    }
    print("cells \(sheet.count), evaluations \(sheet.evaluations), checksum \(checksum)")
}

calculate()
