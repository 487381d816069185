import Foundation

struct CellRef: Hashable {
    let row: Int
    let column: Int
}

final class UndoStep {
    let title: String
    private let revert: () -> Void

    init(title: String, revert: @escaping () -> Void) {
        self.title = title
        self.revert = revert
    }

    func run() { revert() }
}

final class UndoStack {
    private var steps: [UndoStep] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func push(_ step: UndoStep) {
        steps.append(step)
        if steps.count > limit { steps.removeFirst() }
    }

    func undo() -> String? {
        guard let step = steps.popLast() else { return nil }
        step.run()
        return step.title
    }
}

protocol CellWatcher: AnyObject {
    func cellChanged(_ cell: CellRef, to value: Int)
}

final class SumPanel: CellWatcher {
    private let column: Int
    private var values: [CellRef: Int] = [:]

    init(column: Int) { self.column = column }

    func cellChanged(_ cell: CellRef, to value: Int) {
        if cell.column == column { values[cell] = value }
    }

    var sum: Int { values.values.reduce(0, +) }
}

final class Workbook {
    let name: String
    private var cells: [CellRef: Int] = [:]
    private let undoStack = UndoStack(limit: 60)
    private var watchers: [Watch] = []

    private struct Watch {
        weak var watcher: CellWatcher?
    }

    init(name: String) { self.name = name }

    func add(_ watcher: CellWatcher) {
        watchers.removeAll { $0.watcher == nil }
        watchers.append(Watch(watcher: watcher))
    }

    private func store(_ value: Int?, at cell: CellRef) {
        cells[cell] = value
        for watch in watchers { watch.watcher?.cellChanged(cell, to: value ?? 0) }
    }

    func set(_ cell: CellRef, to value: Int) {
        let old = cells[cell]
        store(value, at: cell)
        undoStack.push(UndoStep(title: "set r\(cell.row)c\(cell.column)") { [unowned self] in
            store(old, at: cell)
        })
    }

    func undo() -> Bool { undoStack.undo() != nil }

    var checksum: Int {
        cells.reduce(0) { $0 &+ ($1.key.row &* 31 &+ $1.key.column) &* $1.value }
    }
}

final class Desk {
    private var open: [String: Workbook] = [:]

    func workbook(_ name: String) -> Workbook {
        if let known = open[name] { return known }
        let made = Workbook(name: name)
        open[name] = made
        return made
    }

    func close(_ name: String) -> Int {
        guard let workbook = open.removeValue(forKey: name) else { return 0 }
        return workbook.checksum
    }

    var count: Int { open.count }
}

let desk = Desk()
var checks = 0
var undone = 0
var panelTotal = 0

for day in 0..<160 {
    let budget = desk.workbook("budget")
    let name = "day \(day)"
    let sheet = desk.workbook(name)
    let panel = SumPanel(column: 2)
    sheet.add(panel)
    budget.add(panel)
    for entry in 0..<12 {
        sheet.set(CellRef(row: entry, column: entry % 4), to: day + entry)
        if entry % 4 == 3, sheet.undo() { undone += 1 }
    }
    for line in 0..<3 {
        budget.set(CellRef(row: day % 40, column: line), to: day * 10 + line)
    }
    usleep(4000)
    panelTotal += panel.sum
    checks &+= desk.close(name)
}

while desk.workbook("budget").undo() {
    undone += 1
    if undone % 10 == 0 { usleep(2000) }
}
checks &+= desk.close("budget")
print("undone \(undone), panels \(panelTotal), checks \(checks), open \(desk.count)")
