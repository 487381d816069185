import Foundation

struct CellRef: Hashable, Comparable {
    let column: Int
    let row: Int

    static func < (lhs: CellRef, rhs: CellRef) -> Bool {
        (lhs.column, lhs.row) < (rhs.column, rhs.row)
    }
}

final class FormulaCell {
    let ref: CellRef
    let inputs: [CellRef]
    let weight: Int

    init(ref: CellRef, inputs: [CellRef], weight: Int) {
        self.ref = ref
        self.inputs = inputs
        self.weight = weight
    }
}

final class DependentList {
    private(set) var refs: [CellRef] = []

    func add(_ ref: CellRef) {
        refs.append(ref)
    }
}

final class Sheet {
    private var cells: [CellRef: FormulaCell] = [:]
    private var dependentsByColumn: [Int: [CellRef: DependentList]] = [:]
    private(set) var indexBuilds = 0

    func load(columns: Int, rows: Int) {
        for column in 0..<columns {
            for row in 0..<rows {
                let ref = CellRef(column: column, row: row)
                var inputs: [CellRef] = []
                if column > 0 { inputs.append(CellRef(column: column - 1, row: row)) }
                if row > 0 { inputs.append(CellRef(column: column, row: row - 1)) }
                cells[ref] = FormulaCell(ref: ref, inputs: inputs, weight: 1 + (column * row) % 5)
            }
        }
    }

    private func index(for column: Int) -> [CellRef: DependentList] {
        if let built = dependentsByColumn[column] { return built }
        indexBuilds += 1
        var lists: [CellRef: DependentList] = [:]
        for cell in cells.values.sorted(by: { $0.ref < $1.ref }) {
            for input in cell.inputs where input.column == column {
                let list = lists[input] ?? DependentList()
                list.add(cell.ref)
                lists[input] = list
            }
        }
        dependentsByColumn[column] = lists
        return lists
    }

    func affected(by origin: CellRef, depth: Int) -> Int {
        var frontier: Set<CellRef> = [origin]
        var seen: Set<CellRef> = [origin]
        for _ in 0..<depth {
            var next: Set<CellRef> = []
            for ref in frontier {
                for dependent in index(for: ref.column)[ref]?.refs ?? [] where seen.insert(dependent).inserted {
                    next.insert(dependent)
                }
            }
            frontier = next
        }
        return seen.reduce(0) { $0 + (cells[$1]?.weight ?? 0) }
    }

    var cellCount: Int { cells.count }
}

let sheet = Sheet()
sheet.load(columns: 20, rows: 24)
var weight = 0
for query in 0..<400 {
    let origin = CellRef(column: (query * 7) % 20, row: (query * 5) % 24)
    weight += sheet.affected(by: origin, depth: 3)
    if query % 10 == 0 {
        usleep(9_000)
    }
}
print("xrefcells: \(sheet.cellCount) cells, \(sheet.indexBuilds) column indexes, weight \(weight)")
