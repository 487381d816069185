import Foundation

final class Signal<Value> {
    private final class Entry {
        weak var owner: AnyObject?
        let action: (Value) -> Void
        init(owner: AnyObject, action: @escaping (Value) -> Void) {
            self.owner = owner
            self.action = action
        }
    }

    private var entries: [Entry] = []
    private var additionsSinceCompaction = 0

    func listen(_ owner: AnyObject, _ action: @escaping (Value) -> Void) {
        entries.append(Entry(owner: owner, action: action))
        additionsSinceCompaction += 1
        if additionsSinceCompaction > 100 { compact() }
    }

    func send(_ value: Value) {
        for entry in entries where entry.owner != nil { entry.action(value) }
    }

    private func compact() {
        entries.removeAll { $0.owner == nil }
        additionsSinceCompaction = 0
    }

    var size: Int { entries.count }
}

final class Gauge {
    let title: String
    var reading = 0
    init(title: String) { self.title = title }
}

final class Panel {
    let gauges: [Gauge]
    init(name: String, count: Int) { gauges = (0..<count).map { Gauge(title: "\(name)/\($0)") } }

    func attach(to signal: Signal<Int>) {
        for gauge in gauges {
            signal.listen(gauge) { [weak gauge] value in gauge?.reading += value }
        }
    }
}

final class Recorder {
    private var samples: [Int] = []
    func attach(to signal: Signal<Int>) {
        signal.listen(self) { [unowned self] value in
            samples.append(value)
            if samples.count > 1_000 { samples.removeFirst(500) }
        }
    }
    var total: Int { samples.reduce(0, +) }
}

let pulse = Signal<Int>()
let recorder = Recorder()
recorder.attach(to: pulse)
let wall = Panel(name: "wall", count: 25)
wall.attach(to: pulse)
var docked: [Panel] = []
for step in 0..<80 {
    let popup = Panel(name: "popup-\(step)", count: 15)
    popup.attach(to: pulse)
    if step % 20 == 19 || step > 76 { docked.append(popup) }
    for value in 1...5 { pulse.send(value) }
    Thread.sleep(forTimeInterval: 0.015)
}
let dockedReadings = docked.flatMap { $0.gauges }.reduce(0) { $0 + $1.reading }
print("recorded \(recorder.total), wall \(wall.gauges[0].reading), docked \(dockedReadings), bounded \(pulse.size < 300)")
