import Foundation

protocol CellListener: AnyObject {
    func cellDidChange(_ key: String, value: Double)
}

final class ListenerSlot {
    weak var listener: CellListener?
    let addedAt: Int
    init(_ listener: CellListener, addedAt: Int) {
        self.listener = listener
        self.addedAt = addedAt
    }
}

final class ObserverIndex {
    private var slots: [String: [ListenerSlot]] = [:]
    private var stamp = 0

    func observe(_ key: String, _ listener: CellListener) {
        stamp += 1
        slots[key, default: []].append(ListenerSlot(listener, addedAt: stamp))
    }

    func notify(_ key: String, value: Double) {
        guard var list = slots[key] else { return }
        list.removeAll { $0.listener == nil }
        for slot in list { slot.listener?.cellDidChange(key, value: value) }
        if list.isEmpty { slots.removeValue(forKey: key) } else { slots[key] = list }
    }
}

final class CellView: CellListener {
    let key: String
    private(set) var shown = 0.0
    init(key: String) { self.key = key }
    func cellDidChange(_ key: String, value: Double) { shown = value }
}

final class Sheet {
    let name: String
    private(set) var values: [String: Double] = [:]
    private let index: ObserverIndex

    init(name: String, rows: Int, index: ObserverIndex) {
        self.name = name
        self.index = index
        for row in 0..<rows { values["\(name)!A\(row)"] = 0 }
    }

    func set(_ row: Int, _ value: Double) {
        let key = "\(name)!A\(row)"
        values[key] = value
        index.notify(key, value: value)
    }

    func makeViews() -> [CellView] {
        values.keys.map { key in
            let view = CellView(key: key)
            index.observe(key, view)
            return view
        }
    }
}

let index = ObserverIndex()
let summary = Sheet(name: "summary", rows: 10, index: index)
let summaryViews = summary.makeViews()
var painted = 0.0
for document in 0..<40 {
    let sheet = Sheet(name: "doc\(document)", rows: 150, index: index)
    var views = sheet.makeViews()
    for row in 0..<150 { sheet.set(row, Double(row + document)) }
    painted += views.reduce(0) { $0 + $1.shown }
    views.removeAll()
    for row in stride(from: 0, to: 150, by: 2) { sheet.set(row, 0) }
    summary.set(document % 10, painted)
    Thread.sleep(forTimeInterval: 0.025)
}
print("painted \(painted), summary \(summaryViews.reduce(0) { $0 + $1.shown })")
