import Foundation

// Spreadsheet engine: formulas, dependency tracking, incremental
// recalculation, and reference loops reported as errors.

indirect enum Formula {
    case constant(Double)
    case reference(String)
    case sum([String])
    case add(Formula, Formula)
    case multiply(Formula, Formula)

    var references: [String] {
        switch self {
        case .constant: return []
        case .reference(let name): return [name]
        case .sum(let names): return names
        case .add(let a, let b), .multiply(let a, let b): return a.references + b.references
        }
    }
}

final class SheetCell {
    let name: String
    var formula: Formula = .constant(0)
    var value = 0.0
    private struct Dependent { weak var cell: SheetCell? }
    private var dependents: [String: Dependent] = [:]
    var visiting = false

    init(name: String) { self.name = name }

    func addDependent(_ cell: SheetCell) { dependents[cell.name] = Dependent(cell: cell) }
    func removeDependent(_ name: String) { dependents[name] = nil }
    var activeDependents: [SheetCell] { dependents.values.compactMap(\.cell) }
}

enum SheetError: Error { case loop(String) }

final class Sheet {
    let title: String
    private var cells: [String: SheetCell] = [:]
    private(set) var evaluations = 0

    init(title: String) { self.title = title }

    private func cell(_ name: String) -> SheetCell {
        if let existing = cells[name] { return existing }
        let fresh = SheetCell(name: name)
        cells[name] = fresh
        return fresh
    }

    func value(_ name: String) -> Double { cells[name]?.value ?? 0 }

    func set(_ name: String, _ formula: Formula) throws {
        let target = cell(name)
        let previous = target.formula
        connect(target, to: formula)
        do {
            let order = try affected(by: target)
            for item in order { evaluate(item) }
        } catch {
            connect(target, to: previous)
            throw error
        }
    }

    private func connect(_ target: SheetCell, to formula: Formula) {
        for name in target.formula.references { cells[name]?.removeDependent(target.name) }
        target.formula = formula
        for name in formula.references { cell(name).addDependent(target) }
    }

    private func affected(by start: SheetCell) throws -> [SheetCell] {
        var order: [SheetCell] = []
        var finished = Set<String>()
        var open: [SheetCell] = []
        defer { for item in open { item.visiting = false } }
        func visit(_ item: SheetCell) throws {
            if item.visiting { throw SheetError.loop(item.name) }
            guard !finished.contains(item.name) else { return }
            item.visiting = true
            open.append(item)
            for dependent in item.activeDependents.sorted(by: { $0.name < $1.name }) { try visit(dependent) }
            item.visiting = false
            open.removeLast()
            finished.insert(item.name)
            order.append(item)
        }
        try visit(start)
        return order.reversed()
    }

    private func evaluate(_ item: SheetCell) {
        evaluations += 1
        item.value = compute(item.formula)
    }

    private func compute(_ formula: Formula) -> Double {
        switch formula {
        case .constant(let value): return value
        case .reference(let name): return value(name)
        case .sum(let names): return names.reduce(0) { $0 + value($1) }
        case .add(let a, let b): return compute(a) + compute(b)
        case .multiply(let a, let b): return compute(a) * compute(b)
        }
    }

    func remove(row: Int, columns: Int) {
        for column in 0..<columns {
            let name = Sheet.name(column, row)
            guard let removed = cells.removeValue(forKey: name) else { continue }
            for reference in removed.formula.references { cells[reference]?.removeDependent(name) }
        }
    }

    static func name(_ column: Int, _ row: Int) -> String { "\(Character(UnicodeScalar(UInt8(65 + column))))\(row)" }
    var cellCount: Int { cells.count }
}

final class Workbook {
    private(set) var sheets: [Sheet] = []
    func add(_ title: String) -> Sheet {
        let sheet = Sheet(title: title)
        sheets.append(sheet)
        return sheet
    }
    func close(_ title: String) { sheets.removeAll { $0.title == title } }
}

/// Fills a budget: quantities and prices, totals per row, running sums.
func fillBudget(_ sheet: Sheet, rows: Int, rate: Double) throws {
    try sheet.set("Z1", .constant(rate))
    for row in 1...rows {
        try sheet.set(Sheet.name(0, row), .constant(Double(row % 13 + 1)))
        try sheet.set(Sheet.name(1, row), .constant(Double(row * 7 % 40) + 0.5))
        try sheet.set(Sheet.name(2, row), .multiply(.reference(Sheet.name(0, row)), .reference(Sheet.name(1, row))))
        try sheet.set(Sheet.name(3, row), .multiply(.reference(Sheet.name(2, row)), .reference("Z1")))
        if row % 10 == 0 {
            try sheet.set(Sheet.name(4, row), .sum((row - 9...row).map { Sheet.name(3, $0) }))
            try sheet.set(Sheet.name(5, row), .add(.reference(Sheet.name(4, row)), .reference(Sheet.name(5, row - 10))))
        }
    }
}

let workbook = Workbook()
var evaluations = 0, loops = 0
var closing = 0.0
for month in 1...106 {
    let sheet = workbook.add("month \(month)")
    try fillBudget(sheet, rows: 120, rate: 1 + Double(month) / 100)
    for round in 0..<120 {
        let row = 1 + round * 17 % 120
        try sheet.set(Sheet.name(round % 2, row), .constant(Double(round % 25) + 1))
        if round % 20 == 0 { try sheet.set("Z1", .constant(1.0 + Double(round) / 500)) }
        do {
            let line = (row + 9) / 10 * 10
            try sheet.set(Sheet.name(3, row), .reference(Sheet.name(5, line)))
        } catch SheetError.loop {
            loops += 1
        }
    }
    closing += sheet.value(Sheet.name(5, 120))
    sheet.remove(row: 120, columns: 6)
    evaluations += sheet.evaluations
    if month > 3 { workbook.close("month \(month - 3)") }
}
print("evaluations \(evaluations), loops refused \(loops), closing \(String(format: "%.2f", closing))")
print("open sheets \(workbook.sheets.count): " + workbook.sheets.map { "\($0.title) (\($0.cellCount) cells)" }.joined(separator: ", "))
