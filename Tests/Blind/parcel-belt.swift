final class Label {
    let destination: String
    let priority: Int
    init(destination: String, priority: Int) { self.destination = destination; self.priority = priority }
}

final class Parcel {
    let id: Int
    let label: Label
    let weight: Double
    init(id: Int, label: Label, weight: Double) { self.id = id; self.label = label; self.weight = weight }
}

final class Belt {
    private var items: [Parcel] = []
    private var head = 0
    func load(_ p: Parcel) {
        items.append(p)
    }
    func unload() -> Parcel? {
        guard head < items.count else { return nil }
        let p = items[head]
        head += 1
        if head >= 64 {
            items.removeFirst(head)
            head = 0
        }
        return p
    }
    var waiting: Int { items.count - head }
}

final class Dock {
    private let belt: Belt
    private var next = 0
    init(belt: Belt) { self.belt = belt }
    func truck(parcels: Int) {
        for _ in 0..<parcels {
            next += 1
            let label = Label(destination: "distribution centre \(next % 17)", priority: next % 3)
            belt.load(Parcel(id: next, label: label, weight: Double(next % 40) / 2))
        }
    }
}

final class Sorter {
    private let belt: Belt
    private(set) var done = 0
    private var weights: [Int: Double] = [:]
    init(belt: Belt) { self.belt = belt }
    func step() {
        guard let p = belt.unload() else { return }
        weights[p.label.priority, default: 0] += p.weight
        done += 1
    }
    var total: Double { weights.values.reduce(0, +) }
}

let belt = Belt()
let docks = [Dock(belt: belt), Dock(belt: belt), Dock(belt: belt)]
let sorter = Sorter(belt: belt)
for _ in 0..<1500 {
    docks.forEach { $0.truck(parcels: 1) }
    sorter.step()
}
print("sorted \(sorter.done) weight \(sorter.total) waiting \(belt.waiting)")
