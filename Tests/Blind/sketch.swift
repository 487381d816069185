import Foundation

struct Point {
    var x: Double
    var y: Double
}

struct Stroke {
    var points: [Point]
    var width: Double
}

protocol Edit: AnyObject {
    func apply(to canvas: Canvas)
    func revert(on canvas: Canvas)
}

final class Canvas {
    private(set) var strokes: [Int: Stroke] = [:]

    func put(_ stroke: Stroke?, at slot: Int) { strokes[slot] = stroke }

    var ink: Double {
        strokes.keys.sorted().reduce(0) { $0 + strokes[$1]!.width * Double(strokes[$1]!.points.count) }
    }
}

/// Replaces the drawing in one slot of the canvas.
final class StrokeEdit: Edit {
    private let slot: Int
    private let before: Stroke?
    private let after: Stroke

    init(slot: Int, before: Stroke?, after: Stroke) {
        self.slot = slot
        self.before = before
        self.after = after
    }

    func apply(to canvas: Canvas) { canvas.put(after, at: slot) }
    func revert(on canvas: Canvas) { canvas.put(before, at: slot) }
}

final class History {
    private var undoStack: [Edit] = []
    private(set) var undone = 0

    func perform(_ edit: Edit, on canvas: Canvas) {
        edit.apply(to: canvas)
        undoStack.append(edit)
    }

    func undo(on canvas: Canvas) {
        guard let last = undoStack.popLast() else { return }
        last.revert(on: canvas)
        undone += 1
    }
}

final class SketchSession {
    let canvas = Canvas()
    let history = History()
    private var saves = 0

    func draw(step: Int) {
        let slot = step % 40
        let points = (0..<12).map { Point(x: Double(step + $0), y: Double(step * $0 % 200)) }
        let stroke = Stroke(points: points, width: 1 + Double(step % 5) / 2)
        let edit = StrokeEdit(slot: slot, before: canvas.strokes[slot], after: stroke)
        history.perform(edit, on: canvas)
        if step % 25 == 24 { history.undo(on: canvas) }
    }

    func autosave() -> Int {
        saves += 1
        return canvas.strokes.values.reduce(0) { $0 + $1.points.count * MemoryLayout<Point>.size }
    }
}

let session = SketchSession()
var written = 0
for step in 0..<1500 {
    session.draw(step: step)
    if step % 50 == 0 {
        written += session.autosave()
        usleep(16_000)
    }
}
print("ink \(session.canvas.ink), \(written) bytes saved, \(session.history.undone) taken back")
