import Foundation

class Shape {
    var x: Double
    var y: Double
    init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
    var area: Double { 0 }
    func scale(_ factor: Double) {}
}

final class Circle: Shape {
    var radius: Double
    init(x: Double, y: Double, radius: Double) {
        self.radius = radius
        super.init(x: x, y: y)
    }
    override var area: Double { 3.14159 * radius * radius }
    override func scale(_ factor: Double) { radius *= factor }
}

final class Box: Shape {
    var width: Double
    var height: Double
    init(x: Double, y: Double, width: Double, height: Double) {
        self.width = width
        self.height = height
        super.init(x: x, y: y)
    }
    override var area: Double { width * height }
    override func scale(_ factor: Double) {
        width *= factor
        height *= factor
    }
}

final class Step {
    let label: String
    let backward: (Canvas) -> Void
    init(label: String, backward: @escaping (Canvas) -> Void) {
        self.label = label
        self.backward = backward
    }
}

final class Group {
    let steps: [Step]
    init(steps: [Step]) { self.steps = steps }
    func revert(on canvas: Canvas) {
        for step in steps.reversed() { step.backward(canvas) }
    }
}

final class UndoStack {
    private var groups: [Group] = []
    private var gathering: [Step]?
    private let limit = 40
    private(set) var undone = 0

    func record(_ step: Step) {
        if gathering != nil {
            gathering!.append(step)
        } else {
            if groups.count == limit { groups.removeFirst() }
            groups.append(Group(steps: [step]))
        }
    }

    func begin() { gathering = [] }

    func commit() {
        guard let steps = gathering else { return }
        gathering = nil
        if !steps.isEmpty { groups.append(Group(steps: steps)) }
    }

    func undo(on canvas: Canvas) {
        guard let group = groups.popLast() else { return }
        group.revert(on: canvas)
        undone += 1
    }
}

final class Canvas {
    private(set) var shapes: [Shape] = []

    func add(_ shape: Shape) { shapes.append(shape) }
    func remove(_ shape: Shape) { shapes.removeAll { $0 === shape } }
    var inked: Double { shapes.reduce(0) { $0 + $1.area } }
}

final class Editor {
    let canvas = Canvas()
    private let history = UndoStack()
    private(set) var macros = 0

    func draw(_ shape: Shape) {
        canvas.add(shape)
        history.record(Step(label: "draw") { $0.remove(shape) })
    }

    func erase(_ index: Int) {
        let shape = canvas.shapes[index]
        canvas.remove(shape)
        history.record(Step(label: "erase") { $0.add(shape) })
    }

    func move(_ index: Int, dx: Double, dy: Double) {
        let shape = canvas.shapes[index]
        shape.x += dx
        shape.y += dy
        history.record(Step(label: "move") { _ in
            shape.x -= dx
            shape.y -= dy
        })
    }

    func scale(_ index: Int, by factor: Double) {
        let shape = canvas.shapes[index]
        shape.scale(factor)
        history.record(Step(label: "scale") { _ in shape.scale(1 / factor) })
    }

    func macro(_ body: () -> Void) {
        history.begin()
        body()
        history.commit()
        macros += 1
    }

    func undo() { history.undo(on: canvas) }
    var undoCount: Int { history.undone }
}

final class Artist {
    private let editor: Editor
    private var state: UInt64 = 515
    init(editor: Editor) { self.editor = editor }

    private func draw(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }

    private func sketch() {
        let x = Double(draw(400))
        let y = Double(draw(300))
        if draw(2) == 0 {
            editor.draw(Circle(x: x, y: y, radius: 2 + Double(draw(20))))
        } else {
            editor.draw(Box(x: x, y: y, width: 3 + Double(draw(30)), height: 3 + Double(draw(30))))
        }
    }

    func work() {
        let count = editor.canvas.shapes.count
        switch draw(12) {
        case 0..<4 where count < 60: sketch()
        case 4..<6 where count > 20: editor.erase(draw(count))
        case 6..<8 where count > 0: editor.move(draw(count), dx: Double(draw(9)), dy: 2)
        case 8 where count > 0: editor.scale(draw(count), by: 1.25)
        case 9 where count > 4:
            editor.macro {
                sketch()
                editor.move(draw(editor.canvas.shapes.count), dx: 1, dy: 1)
                editor.erase(draw(editor.canvas.shapes.count))
            }
        case 10 where draw(3) == 0: editor.undo()
        default: break
        }
    }
}

let editor = Editor()
let artist = Artist(editor: editor)
for stroke in 0..<2_400 {
    artist.work()
    if stroke % 10 == 0 { usleep(8_000) }
}
print("\(editor.canvas.shapes.count) shapes, ink \(Int(editor.canvas.inked))")
print("\(editor.macros) macros, \(editor.undoCount) undone")
