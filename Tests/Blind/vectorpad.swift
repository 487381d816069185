import Foundation

struct Shape: Equatable {
    var x: Int
    var y: Int
    var side: Int
}

final class CanvasCommand {
    let title: String
    let slot: Int
    let before: Shape
    let after: Shape

    init(title: String, slot: Int, before: Shape, after: Shape) {
        self.title = title
        self.slot = slot
        self.before = before
        self.after = after
    }
}

struct CommandHistory {
    private var done: [CanvasCommand] = []
    private var undone: [CanvasCommand] = []
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func push(_ command: CanvasCommand) {
        undone.removeAll()
        done.append(command)
        if done.count > limit {
            done.removeFirst(done.count - limit)
        }
    }

    mutating func stepBack() -> CanvasCommand? {
        guard let command = done.popLast() else { return nil }
        undone.append(command)
        return command
    }

    mutating func stepForward() -> CanvasCommand? {
        guard let command = undone.popLast() else { return nil }
        done.append(command)
        return command
    }

    var depth: Int { done.count }
}

final class Canvas {
    private var shapes: [Shape]
    private var history = CommandHistory(limit: 25)

    init(shapes: [Shape]) {
        self.shapes = shapes
    }

    func perform(_ title: String, on slot: Int, _ edit: (inout Shape) -> Void) {
        var next = shapes[slot]
        edit(&next)
        guard next != shapes[slot] else { return }
        history.push(CanvasCommand(title: title, slot: slot, before: shapes[slot], after: next))
        shapes[slot] = next
    }

    func undo() {
        guard let command = history.stepBack() else { return }
        shapes[command.slot] = command.before
    }

    func redo() {
        guard let command = history.stepForward() else { return }
        shapes[command.slot] = command.after
    }

    var area: Int { shapes.reduce(0) { $0 + $1.side * $1.side } }
    var undoDepth: Int { history.depth }
}

let canvas = Canvas(shapes: (0..<12).map { Shape(x: $0 * 10, y: $0 * 4, side: 5 + $0) })

for gesture in 1...1400 {
    let slot = (gesture * 5) % 12
    switch gesture % 4 {
    case 0: canvas.perform("Grow", on: slot) { $0.side = 4 + ($0.side + 3) % 20 }
    case 1: canvas.perform("Nudge", on: slot) { $0.x += 3 }
    case 2: canvas.perform("Drop", on: slot) { $0.y = ($0.y + 7) % 90 }
    default: canvas.perform("Snap", on: slot) { $0.x -= $0.x % 4 }
    }
    if gesture % 30 == 0 {
        for _ in 0..<5 { canvas.undo() }
        for _ in 0..<3 { canvas.redo() }
    }
    if gesture % 20 == 0 { usleep(8_000) }
}

print("vectorpad: area \(canvas.area), undo depth \(canvas.undoDepth)")
