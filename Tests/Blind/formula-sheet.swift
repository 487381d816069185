import Foundation

final class CellEdit {
    let cell: Int
    let oldValue: Int
    let newValue: Int
    init(cell: Int, oldValue: Int, newValue: Int) {
        self.cell = cell
        self.oldValue = oldValue
        self.newValue = newValue
    }
}

final class CompiledFormula {
    let source: String
    private let evaluate: (Int, Int) -> Int

    init(source: String) {
        self.source = source
        switch source.first {
        case "+": evaluate = { $0 &+ $1 }
        case "*": evaluate = { $0 &* $1 }
        case "-": evaluate = { $0 &- $1 }
        default: evaluate = { max($0, $1) }
        }
    }

    func callAsFunction(_ a: Int, _ b: Int) -> Int { evaluate(a, b) }
}

final class FormulaSheet {
    private var cells = [Int](repeating: 0, count: 64)
    private var undoStack: [CellEdit] = []
    private var compiled: [String: CompiledFormula] = [:]
    private let undoLimit = 20
    private(set) var compilations = 0

    func set(_ cell: Int, to value: Int) {
        undoStack.append(CellEdit(cell: cell, oldValue: cells[cell], newValue: value))
        if undoStack.count > undoLimit { undoStack.removeFirst() }
        cells[cell] = value
    }

    func undo() {
        guard let edit = undoStack.popLast() else { return }
        if cells[edit.cell] == edit.newValue { cells[edit.cell] = edit.oldValue }
    }

    private func formula(_ source: String) -> CompiledFormula {
        if let formula = compiled[source] { return formula }
        compilations += 1
        let formula = CompiledFormula(source: source)
        compiled[source] = formula
        return formula
    }

    func recalculate(_ source: String) -> Int {
        let f = formula(source)
        return cells.reduce(0) { f($0, $1) & 0xffff }
    }

    var undoDepth: Int { undoStack.count }
}

let sheet = FormulaSheet()
let sources = ["+ sum", "* product", "- difference", "max", "+ total"]
var result = 0
for edit in 0..<400 {
    sheet.set(edit % 64, to: (edit * 29) % 1000)
    if edit % 9 == 8 { sheet.undo() }
    result &+= sheet.recalculate(sources[edit % sources.count])
}
print("result \(result) undo \(sheet.undoDepth) compilations \(sheet.compilations)")
