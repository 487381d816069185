import Foundation

struct Wall: Equatable {
    var x1: Int, y1: Int, x2: Int, y2: Int

    var length: Double {
        let dx = Double(x2 - x1), dy = Double(y2 - y1)
        return (dx * dx + dy * dy).squareRoot()
    }
}

enum Edit {
    case add(Wall)
    case shift(index: Int, dx: Int, dy: Int)
}

final class EditStep {
    let edit: Edit
    weak var earlier: EditStep?
    var later: EditStep?

    init(_ edit: Edit) { self.edit = edit }
}

final class Branch {
    let first: EditStep
    let sibling: Branch?

    init(first: EditStep, sibling: Branch?) {
        self.first = first
        self.sibling = sibling
    }
}

final class Floorplan {
    private var walls: [Wall] = []
    private var root: EditStep
    private var current: EditStep
    private var depth = 0
    private var branches: Branch?
    private let maxDepth: Int

    init(maxDepth: Int) {
        self.maxDepth = maxDepth
        root = EditStep(.add(Wall(x1: 0, y1: 0, x2: 10, y2: 0)))
        current = root
        walls.append(Wall(x1: 0, y1: 0, x2: 10, y2: 0))
    }

    func perform(_ edit: Edit) {
        let step = EditStep(edit)
        if let replaced = current.later {
            branches = Branch(first: replaced, sibling: branches)
        }
        current.later = step
        step.earlier = current
        current = step
        apply(edit)
        depth += 1
        if depth > maxDepth, let second = root.later {
            root = second
            depth -= 1
        }
    }

    @discardableResult
    func undo() -> Bool {
        guard let previous = current.earlier, current !== root else { return false }
        switch current.edit {
        case .add: walls.removeLast()
        case let .shift(index, dx, dy): move(index, -dx, -dy)
        }
        current = previous
        depth -= 1
        return true
    }

    @discardableResult
    func redo() -> Bool {
        guard let step = current.later else { return false }
        apply(step.edit)
        current = step
        depth += 1
        return true
    }

    private func apply(_ edit: Edit) {
        switch edit {
        case .add(let wall): walls.append(wall)
        case let .shift(index, dx, dy): move(index, dx, dy)
        }
    }

    private func move(_ i: Int, _ dx: Int, _ dy: Int) {
        walls[i].x1 += dx; walls[i].x2 += dx
        walls[i].y1 += dy; walls[i].y2 += dy
    }

    var wallCount: Int { walls.count }
    var totalLength: Double { walls.reduce(0) { $0 + $1.length } }
}

let plan = Floorplan(maxDepth: 80)
var seed: UInt64 = 41
func pick(_ n: Int) -> Int {
    seed = seed &* 2862933555777941757 &+ 3037000493
    return Int((seed >> 35) % UInt64(n))
}

var undos = 0, redos = 0
for _ in 0..<500 {
    for _ in 0..<5 {
        if pick(3) == 0 {
            let x = pick(100), y = pick(100)
            plan.perform(.add(Wall(x1: x, y1: y, x2: x + pick(12), y2: y + pick(12))))
        } else {
            plan.perform(.shift(index: pick(plan.wallCount), dx: pick(5) - 2, dy: pick(5) - 2))
        }
    }
    for _ in 0..<(1 + pick(4)) where plan.undo() { undos += 1 }
    if pick(4) == 0, plan.redo() { redos += 1 }
}

print("walls: \(plan.wallCount)")
print("total length:", String(format: "%.2f", plan.totalLength))
print("undos \(undos), redos \(redos)")
