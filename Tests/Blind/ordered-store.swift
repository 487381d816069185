import Foundation

// Ordered map as a treap with parent links, used as the index of a time
// series: samples are inserted, range queries run, averages are taken.

final class TreapNode<Key: Comparable, Value> {
    let key: Key
    var value: Value
    let priority: UInt32
    var left: TreapNode?
    var right: TreapNode?
    weak var parent: TreapNode?
    var size = 1

    init(key: Key, value: Value, priority: UInt32) {
        self.key = key
        self.value = value
        self.priority = priority
    }

    func update() {
        size = 1 + (left?.size ?? 0) + (right?.size ?? 0)
        left?.parent = self
        right?.parent = self
    }
}

struct OrderedMap<Key: Comparable, Value> {
    typealias Node = TreapNode<Key, Value>
    private var root: Node?
    private var seed: UInt32 = 2_463_534_242

    var count: Int { root?.size ?? 0 }

    private mutating func priority() -> UInt32 {
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        return seed
    }

    private func split(_ node: Node?, at key: Key) -> (Node?, Node?) {
        guard let node else { return (nil, nil) }
        if node.key < key {
            let (a, b) = split(node.right, at: key)
            node.right = a
            node.update()
            return (node, b)
        }
        let (a, b) = split(node.left, at: key)
        node.left = b
        node.update()
        return (a, node)
    }

    private func merge(_ a: Node?, _ b: Node?) -> Node? {
        guard let a else { return b }
        guard let b else { return a }
        if a.priority > b.priority {
            a.right = merge(a.right, b)
            a.update()
            return a
        }
        b.left = merge(a, b.left)
        b.update()
        return b
    }

    private func node(_ key: Key) -> Node? {
        var current = root
        while let node = current {
            if node.key == key { return node }
            current = key < node.key ? node.left : node.right
        }
        return nil
    }

    subscript(key: Key) -> Value? { node(key)?.value }

    mutating func insert(_ key: Key, _ value: Value) {
        if let existing = node(key) {
            existing.value = value
            return
        }
        let (a, b) = split(root, at: key)
        root = merge(merge(a, Node(key: key, value: value, priority: priority())), b)
        root?.parent = nil
    }

    mutating func removeAll(below key: Key) -> Int {
        let (old, rest) = split(root, at: key)
        root = rest
        root?.parent = nil
        return old?.size ?? 0
    }

    func forEach(in range: Range<Key>, _ body: (Key, Value) -> Void) {
        func visit(_ node: Node?) {
            guard let node else { return }
            if node.key >= range.lowerBound { visit(node.left) }
            if range.contains(node.key) { body(node.key, node.value) }
            if node.key < range.upperBound { visit(node.right) }
        }
        visit(root)
    }

    func rank(of key: Key) -> Int {
        guard let start = node(key) else { return -1 }
        var result = start.left?.size ?? 0
        var child = start
        while let parent = child.parent {
            if parent.right === child { result += 1 + (parent.left?.size ?? 0) }
            child = parent
        }
        return result
    }

    func at(_ rank: Int) -> Key? {
        var remaining = rank
        var current = root
        while let node = current {
            let before = node.left?.size ?? 0
            if remaining == before { return node.key }
            if remaining < before {
                current = node.left
            } else {
                remaining -= before + 1
                current = node.right
            }
        }
        return nil
    }
}

final class Sample {
    let sensor: Int
    let reading: Double
    init(sensor: Int, reading: Double) {
        self.sensor = sensor
        self.reading = reading
    }
}

final class TimeSeries {
    private var samples = OrderedMap<Int, Sample>()
    private let retention: Int
    private(set) var expired = 0
    private(set) var peak = 0

    init(retention: Int) { self.retention = retention }

    func record(_ sample: Sample, at time: Int) {
        samples.insert(time, sample)
        peak = max(peak, samples.count)
    }

    func expire(now: Int) { expired += samples.removeAll(below: now - retention) }

    func average(_ range: Range<Int>, sensor: Int) -> Double {
        var sum = 0.0, count = 0
        samples.forEach(in: range) { _, sample in
            guard sample.sensor == sensor else { return }
            sum += sample.reading
            count += 1
        }
        return count == 0 ? 0 : sum / Double(count)
    }

    var count: Int { samples.count }
    var medianTime: Int? { samples.at(samples.count / 2) }
    func position(of time: Int) -> Int { samples.rank(of: time) }
}

let series = TimeSeries(retention: 60_000)
var jitter: UInt64 = 77
var averages = 0.0
var positions = 0
var medians = 0
for step in 0..<64_000 {
    jitter = jitter &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let time = step * 10 + Int(jitter >> 58)
    let sensor = Int(jitter >> 40 & 7)
    series.record(Sample(sensor: sensor, reading: 20 + sin(Double(step) / 500) * 5 + Double(sensor)), at: time)
    if step % 50 == 0 {
        averages += series.average((time - 1_500)..<time, sensor: sensor)
        medians &+= series.medianTime ?? 0
    }
    if step % 9 == 0 { positions += max(0, series.position(of: time)) }
    if step % 1_000 == 999 { series.expire(now: time) }
}
print("samples \(series.count), peak \(series.peak), expired \(series.expired)")
print("averages \(String(format: "%.3f", averages)), positions \(positions), medians \(medians)")
