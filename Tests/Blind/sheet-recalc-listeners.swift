import Foundation

struct CellRef: Hashable {
    let column: Int
    let row: Int

    var name: String {
        String(UnicodeScalar(UInt8(65 + column))) + "\(row + 1)"
    }
}

final class CellListener {
    let id: Int
    let source: CellRef
    private let action: (Double) -> Void
    var enabled = true

    init(id: Int, source: CellRef, action: @escaping (Double) -> Void) {
        self.id = id
        self.source = source
        self.action = action
    }

    func fire(_ value: Double) {
        if enabled { action(value) }
    }
}

final class ListenerRegistry {
    private var byId: [Int: CellListener] = [:]
    private var byColumn: [Int: [CellListener]] = [:]
    private var counter = 0

    func attach(to source: CellRef, action: @escaping (Double) -> Void) -> Int {
        counter += 1
        let listener = CellListener(id: counter, source: source, action: action)
        byId[counter] = listener
        byColumn[source.column, default: []].append(listener)
        return counter
    }

    func detach(_ id: Int) {
        guard let listener = byId.removeValue(forKey: id) else { return }
        listener.enabled = false
    }

    func changed(_ ref: CellRef, to value: Double) {
        guard let candidates = byColumn[ref.column] else { return }
        for listener in candidates where listener.source == ref {
            listener.fire(value)
        }
    }

    var attached: Int { byId.count }
}

final class Sheet {
    let registry = ListenerRegistry()
    private var cells: [CellRef: Double] = [:]
    private(set) var writes = 0

    subscript(ref: CellRef) -> Double {
        get { cells[ref] ?? 0 }
        set {
            cells[ref] = newValue
            writes += 1
            registry.changed(ref, to: newValue)
        }
    }
}

final class Chart {
    private(set) var points: [Double] = []
    private(set) var maximum = -Double.infinity

    func plot(_ value: Double) {
        if points.count == 200 { points.removeFirst() }
        points.append(value)
        maximum = max(maximum, value)
    }
}

let sheet = Sheet()
let overview = Chart()
let pinned = (0..<6).map { column in
    sheet.registry.attach(to: CellRef(column: column, row: 0)) { overview.plot($0) }
}

var previewTotal = 0.0
for edit in 0..<900 {
    let ref = CellRef(column: edit % 6, row: (edit * 11) % 30)
    let preview = sheet.registry.attach(to: ref) { value in
        previewTotal += value / 2
    }
    for stroke in 0..<3 {
        sheet[ref] = Double((edit * 37 + stroke * 101) % 1000) / 10
    }
    sheet.registry.detach(preview)
}

let column = (0..<6).map { sheet[CellRef(column: $0, row: 0)] }
print("writes \(sheet.writes), attached listeners \(sheet.registry.attached), pinned \(pinned.count)")
print("row 1:", column.map { String(format: "%.1f", $0) }.joined(separator: " "))
print("overview points \(overview.points.count), max \(String(format: "%.1f", overview.maximum))")
print("preview total \(String(format: "%.2f", previewTotal)), last cell \(CellRef(column: 5, row: 29).name)")
