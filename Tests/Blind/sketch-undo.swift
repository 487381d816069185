import Foundation

struct Point: Equatable {
    var x: Int
    var y: Int
}

final class Edit {
    enum Kind {
        case add(Int)
        case move(Int, from: Point)
        case erase(Int, at: Point)
    }

    let serial: Int
    let kind: Kind

    init(serial: Int, kind: Kind) {
        self.serial = serial
        self.kind = kind
    }
}

struct UndoRing {
    private var slots: [Edit?]
    private var top = 0
    private var used = 0

    init(capacity: Int) {
        slots = Array(repeating: nil, count: capacity)
    }

    mutating func push(_ edit: Edit) {
        slots[top] = edit
        top = (top + 1) % slots.count
        used = min(used + 1, slots.count)
    }

    mutating func pop() -> Edit? {
        guard used > 0 else { return nil }
        top = (top + slots.count - 1) % slots.count
        used -= 1
        defer { slots[top] = nil }
        return slots[top]
    }

    var depth: Int { used }
    var oldest: Int? { used == 0 ? nil : slots[(top + slots.count - used) % slots.count]?.serial }
}

final class Sketch {
    private var shapes: [Int: Point] = [:]
    private var history = UndoRing(capacity: 64)
    private var serial = 0
    private var nextShape = 1
    private(set) var undone = 0

    private func record(_ kind: Edit.Kind) {
        serial += 1
        history.push(Edit(serial: serial, kind: kind))
    }

    func add(at point: Point) {
        shapes[nextShape] = point
        record(.add(nextShape))
        nextShape += 1
    }

    func move(_ shape: Int, by dx: Int, _ dy: Int) {
        guard let old = shapes[shape] else { return }
        shapes[shape] = Point(x: old.x + dx, y: old.y + dy)
        record(.move(shape, from: old))
    }

    func erase(_ shape: Int) {
        guard let old = shapes.removeValue(forKey: shape) else { return }
        record(.erase(shape, at: old))
    }

    func undo() {
        guard let edit = history.pop() else { return }
        undone += 1
        switch edit.kind {
        case .add(let shape):
            shapes[shape] = nil
        case .move(let shape, let point), .erase(let shape, let point):
            shapes[shape] = point
        }
    }

    var ids: [Int] { shapes.keys.sorted() }

    func describe() -> String {
        let area = shapes.values.reduce(0) { $0 &+ abs($1.x) &+ abs($1.y) }
        return "\(shapes.count) shapes, extent \(area), \(serial) edits, \(undone) undone, depth \(history.depth), oldest #\(history.oldest ?? 0)"
    }
}

let sketch = Sketch()
var seed: UInt64 = 99

func pick(_ limit: Int) -> Int {
    seed ^= seed << 13
    seed ^= seed >> 7
    seed ^= seed << 17
    return Int(seed % UInt64(limit))
}

for stroke in 0..<2400 {
    let ids = sketch.ids
    switch pick(20) {
    case 0...3 where ids.count < 80:
        sketch.add(at: Point(x: pick(800), y: pick(600)))
    case 4...15 where !ids.isEmpty:
        sketch.move(ids[pick(ids.count)], by: pick(21) - 10, pick(21) - 10)
    case 16 where ids.count > 10:
        sketch.erase(ids[pick(ids.count)])
    case 17:
        sketch.undo()
    default:
        break
    }
    if stroke % 100 == 0 { usleep(1000) }
}

print(sketch.describe())
