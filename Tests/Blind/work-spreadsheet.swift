import Foundation

struct Position: Hashable {
    let column: Int
    let row: Int
}

enum Operation { case sum, product, difference }

class Formula {
    func value(in sheet: Sheet) -> Int { 0 }
    var inputs: [Position] { [] }
}

final class Constant: Formula {
    private let number: Int
    init(_ number: Int) { self.number = number }
    override func value(in sheet: Sheet) -> Int { number }
}

final class Combination: Formula {
    private let operation: Operation
    private let operands: [Position]
    init(_ operation: Operation, _ operands: [Position]) {
        self.operation = operation
        self.operands = operands
    }
    override var inputs: [Position] { operands }
    override func value(in sheet: Sheet) -> Int {
        let values = operands.map { sheet.value(at: $0) }
        switch operation {
        case .sum: return values.reduce(0, &+)
        case .product: return values.reduce(1) { ($0 &* $1) % 100_003 }
        case .difference: return values.dropFirst().reduce(values.first ?? 0, &-)
        }
    }
}

final class Cell {
    let position: Position
    var formula: Formula
    var cached: Int?
    init(position: Position, formula: Formula) {
        self.position = position
        self.formula = formula
    }
}

final class Watch {
    private weak var cell: Cell?
    private let formula: Formula
    init(cell: Cell) {
        self.cell = cell
        formula = cell.formula
    }
    func inputChanged(in sheet: Sheet) {
        guard let cell, cell.cached != nil, cell.formula === formula else { return }
        cell.cached = nil
        sheet.invalidateReaders(of: cell.position)
    }
}

final class Sheet {
    private var cells: [Position: Cell] = [:]
    private var watches: [Position: [ObjectIdentifier: Watch]] = [:]
    private var watchOf: [Position: Watch] = [:]
    private(set) var evaluations = 0
    private(set) var invalidations = 0

    func set(_ position: Position, _ formula: Formula) {
        if let cell = cells[position] {
            cell.formula = formula
            cell.cached = nil
            invalidateReaders(of: position)
        } else {
            cells[position] = Cell(position: position, formula: formula)
        }
        observeInputs(of: position)
    }

    func clear(_ position: Position) {
        guard let cell = cells.removeValue(forKey: position) else { return }
        if let watch = watchOf.removeValue(forKey: position) {
            for input in cell.formula.inputs {
                watches[input]?[ObjectIdentifier(watch)] = nil
            }
        }
        invalidateReaders(of: position)
    }

    private func observeInputs(of position: Position) {
        guard let cell = cells[position], !cell.formula.inputs.isEmpty else { return }
        let watch = Watch(cell: cell)
        watchOf[position] = watch
        for input in cell.formula.inputs {
            watches[input, default: [:]][ObjectIdentifier(watch)] = watch
        }
    }

    func invalidateReaders(of position: Position) {
        guard let readers = watches[position] else { return }
        for watch in readers.values {
            invalidations += 1
            watch.inputChanged(in: self)
        }
    }

    func value(at position: Position) -> Int {
        guard let cell = cells[position] else { return 0 }
        if let cached = cell.cached { return cached }
        evaluations += 1
        let result = cell.formula.value(in: self)
        cell.cached = result
        return result
    }

    func total(column: Int, rows: Int) -> Int {
        (0..<rows).reduce(0) { $0 &+ value(at: Position(column: column, row: $1)) }
    }
}

final class Accountant {
    private let sheet: Sheet
    private var state: UInt64 = 8_080
    init(sheet: Sheet) { self.sheet = sheet }

    private func draw(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }

    private func reference(before column: Int) -> Position {
        Position(column: draw(column), row: draw(12))
    }

    func edit() {
        let column = draw(8)
        let position = Position(column: column, row: draw(12))
        if column == 0 || draw(4) == 0 {
            sheet.set(position, Constant(draw(1_000)))
        } else if draw(5) == 0 {
            sheet.clear(position)
        } else {
            let operation: Operation = [.sum, .product, .difference][draw(3)]
            sheet.set(position, Combination(operation, (0..<(2 + draw(3))).map { _ in reference(before: column) }))
        }
    }
}

func bookkeeping(edits: Int) {
    let sheet = Sheet()
    let accountant = Accountant(sheet: sheet)
    var grand = 0
    for n in 0..<edits {
        accountant.edit()
        if n % 8 == 0 {
            grand = (grand &+ sheet.total(column: 7, rows: 12)) % 1_000_003
            usleep(9_000)
        }
    }
    print("grand \(grand), \(sheet.evaluations) evaluations, \(sheet.invalidations) notices")
}

bookkeeping(edits: 1_400)
