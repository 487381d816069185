// Headless vector editor driven by a recorded script of edits.
import Foundation

struct Shape {
    var x: Double
    var y: Double
    var w: Double
    var h: Double
    var fill: UInt32
}

final class Drawing {
    var shapes: [Shape] = []
}

final class EditCommand {
    let title: String
    let index: Int
    let before: Shape
    let after: Shape

    init(title: String, index: Int, before: Shape, after: Shape) {
        self.title = title
        self.index = index
        self.before = before
        self.after = after
    }

    func apply(to drawing: Drawing) { drawing.shapes[index] = after }
    func revert(on drawing: Drawing) { drawing.shapes[index] = before }
}

final class Editor {
    let drawing = Drawing()
    private let undoDepth = 20
    private var commands: [EditCommand] = []
    private var undone = 0
    private(set) var undoCalls = 0

    func addShape(_ shape: Shape) { drawing.shapes.append(shape) }

    func edit(_ index: Int, title: String, _ change: (inout Shape) -> Void) {
        var after = drawing.shapes[index]
        let before = after
        change(&after)
        let command = EditCommand(title: title, index: index, before: before, after: after)
        command.apply(to: drawing)
        commands.append(command)
        undone = 0
    }

    var canUndo: Bool { undone < min(undoDepth, commands.count) }

    func undo() {
        guard canUndo else { return }
        commands[commands.count - 1 - undone].revert(on: drawing)
        undone += 1
        undoCalls += 1
    }

    func redo() {
        guard undone > 0 else { return }
        commands[commands.count - undone].apply(to: drawing)
        undone -= 1
    }

    var menuTitle: String {
        canUndo ? "Undo \(commands[commands.count - 1 - undone].title)" : "Undo"
    }
}

let editor = Editor()
for i in 0..<12 {
    editor.addShape(Shape(x: Double(i) * 10, y: 0, w: 8, h: 8, fill: 0xFF_00_00))
}

var menuCharacters = 0
for n in 0..<750 {
    let target = n * 5 % 12
    switch n % 3 {
    case 0: editor.edit(target, title: "Move") { $0.x += 1.5; $0.y -= 0.5 }
    case 1: editor.edit(target, title: "Resize") { $0.w *= 1.01; $0.h *= 0.99 }
    default: editor.edit(target, title: "Fill") { $0.fill = UInt32(n) << 4 }
    }
    menuCharacters += editor.menuTitle.count
    if n % 40 == 39 {
        for _ in 0..<25 { editor.undo() }
        for _ in 0..<20 { editor.redo() }
        usleep(6000)
    }
}

let area = editor.drawing.shapes.reduce(0) { $0 + $1.w * $1.h }
print("edits: 750, undos: \(editor.undoCalls), menu characters: \(menuCharacters)")
print(String(format: "drawing: %d shapes, total area %.1f", editor.drawing.shapes.count, area))
