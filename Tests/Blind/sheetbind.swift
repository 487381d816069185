import Foundation

struct CellAddress: Hashable {
    let sheet: String
    let column: Int
    let row: Int

    var label: String {
        let letter = String(UnicodeScalar(UInt8(65 + column % 26)))
        return "\(sheet)!\(letter)\(row)"
    }
}

final class CellBinding {
    let chart: String
    private(set) var samples: [Double] = []

    init(chart: String) {
        self.chart = chart
    }

    func valueChanged(_ value: Double) {
        samples.append(value)
        if samples.count > 8 { samples.removeFirst() }
    }
}

final class Workbook {
    private var cells: [CellAddress: Double] = [:]
    private var bindings: [String: [CellBinding]] = [:]

    func attach(_ binding: CellBinding, to address: CellAddress) {
        bindings[address.label, default: []].append(binding)
    }

    func detach(_ binding: CellBinding, from address: CellAddress) {
        bindings[address.label.lowercased()]?.removeAll { $0 === binding }
    }

    func set(_ value: Double, at address: CellAddress) {
        cells[address] = value
        for binding in bindings[address.label] ?? [] {
            binding.valueChanged(value)
        }
    }

    func sum() -> Double {
        cells.values.reduce(0, +)
    }
}

final class ChartPanel {
    private let workbook: Workbook
    private let source: CellAddress
    private let binding: CellBinding
    private(set) var peak = 0.0

    init(title: String, workbook: Workbook, source: CellAddress) {
        self.workbook = workbook
        self.source = source
        binding = CellBinding(chart: title)
        workbook.attach(binding, to: source)
    }

    func redraw() {
        peak = max(peak, binding.samples.max() ?? 0)
    }

    func close() {
        workbook.detach(binding, from: source)
    }
}

let workbook = Workbook()
var peaks = 0.0

for chart in 0..<220 {
    let source = CellAddress(sheet: "Budget", column: chart % 10, row: 1 + chart % 15)
    let panel = ChartPanel(title: "Chart \(chart)", workbook: workbook, source: source)
    for edit in 0..<6 {
        workbook.set(Double((chart * 13 + edit * 29) % 400) / 4, at: source)
        panel.redraw()
    }
    peaks += panel.peak
    panel.close()
    if chart % 5 == 0 {
        usleep(12_000)
    }
}

print("sheetbind: sum \(workbook.sum()), peaks \(peaks)")
