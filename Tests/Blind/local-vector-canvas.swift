import Foundation

struct Point {
    var x: Double
    var y: Double
}

class Shape {
    let id: Int
    var origin: Point
    var color: Int
    init(id: Int, origin: Point, color: Int) {
        self.id = id
        self.origin = origin
        self.color = color
    }
    var area: Double { 0 }
}

final class Circle: Shape {
    var radius: Double
    init(id: Int, origin: Point, color: Int, radius: Double) {
        self.radius = radius
        super.init(id: id, origin: origin, color: color)
    }
    override var area: Double { .pi * radius * radius }
}

final class Polygon: Shape {
    let points: [Point]
    init(id: Int, origin: Point, color: Int, points: [Point]) {
        self.points = points
        super.init(id: id, origin: origin, color: color)
    }
    override var area: Double {
        var s = 0.0
        for i in points.indices {
            let a = points[i], b = points[(i + 1) % points.count]
            s += a.x * b.y - b.x * a.y
        }
        return abs(s) / 2
    }
}

final class Layer {
    private(set) var shapes: [Shape] = []
    func insert(_ s: Shape, at i: Int) { shapes.insert(s, at: min(i, shapes.count)) }
    @discardableResult
    func remove(_ s: Shape) -> Int {
        guard let i = shapes.firstIndex(where: { $0 === s }) else { return shapes.count }
        shapes.remove(at: i)
        return i
    }
    var ink: Double { shapes.reduce(0) { $0 + $1.area } }
}

class Command {
    func perform(on layer: Layer) {}
    func revert(on layer: Layer) {}
    func absorbs(_ next: Command) -> Bool { false }
}

final class AddCommand: Command {
    private let shape: Shape
    init(_ s: Shape) { shape = s }
    override func perform(on layer: Layer) { layer.insert(shape, at: layer.shapes.count) }
    override func revert(on layer: Layer) { layer.remove(shape) }
}

final class DeleteCommand: Command {
    private var removed: [(Shape, Int)] = []
    private let targets: [Shape]
    init(_ t: [Shape]) { targets = t }
    override func perform(on layer: Layer) {
        removed = targets.map { ($0, layer.remove($0)) }
    }
    override func revert(on layer: Layer) {
        for (s, i) in removed.reversed() { layer.insert(s, at: i) }
        removed.removeAll()
    }
}

final class MoveCommand: Command {
    private let shape: Shape
    private var dx: Double
    private var dy: Double
    init(_ s: Shape, dx: Double, dy: Double) {
        shape = s
        self.dx = dx
        self.dy = dy
    }
    override func perform(on layer: Layer) {
        shape.origin.x += dx
        shape.origin.y += dy
    }
    override func revert(on layer: Layer) {
        shape.origin.x -= dx
        shape.origin.y -= dy
    }
    override func absorbs(_ next: Command) -> Bool {
        guard let m = next as? MoveCommand, m.shape === shape else { return false }
        dx += m.dx
        dy += m.dy
        return true
    }
}

final class Editor {
    private let layer = Layer()
    private var done: [Command] = []
    private var undone: [Command] = []
    private let limit = 60
    private(set) var performed = 0

    func run(_ c: Command) {
        c.perform(on: layer)
        performed += 1
        undone.removeAll()
        if let last = done.last, last.absorbs(c) { return }
        push(c)
    }

    private func push(_ c: Command) {
        done.append(c)
        while done.count > limit { done.removeFirst() }
    }

    func undo() {
        guard let c = done.popLast() else { return }
        c.revert(on: layer)
        undone.append(c)
    }

    func redo() {
        guard let c = undone.popLast() else { return }
        c.perform(on: layer)
        push(c)
    }

    var shapes: [Shape] { layer.shapes }
    var ink: Double { layer.ink }
    var depth: Int { done.count }
}

final class Artist {
    private let editor: Editor
    private var serial = 0
    private var step = 0
    init(_ e: Editor) { editor = e }

    private func newShape() -> Shape {
        serial += 1
        let o = Point(x: Double(serial % 100), y: Double(serial % 70))
        if serial % 2 == 0 { return Circle(id: serial, origin: o, color: serial % 8, radius: Double(serial % 9 + 1)) }
        let n = 3 + serial % 5
        let pts = (0..<n).map { i -> Point in
            let a = 2 * Double.pi * Double(i) / Double(n)
            return Point(x: 5 * cos(a), y: 5 * sin(a))
        }
        return Polygon(id: serial, origin: o, color: serial % 8, points: pts)
    }

    func draw() {
        step += 1
        let shapes = editor.shapes
        if shapes.count < 15 { return editor.run(AddCommand(newShape())) }
        switch step % 19 {
        case 0, 1, 2, 3, 4, 5: editor.run(AddCommand(newShape()))
        case 6, 7, 8: editor.run(MoveCommand(shapes[step % shapes.count], dx: 1, dy: -1))
        case 9:
            let s = shapes[step % shapes.count]
            for _ in 0..<4 { editor.run(MoveCommand(s, dx: 0.5, dy: 0)) }
        case 10, 11: editor.run(DeleteCommand([shapes[(step * 3) % shapes.count]]))
        case 12:
            let c = step % 8
            let same = Array(shapes.filter { $0.color == c }.prefix(4))
            if !same.isEmpty { editor.run(DeleteCommand(same)) }
        case 13, 14, 15: editor.undo()
        case 16: editor.redo()
        default: editor.run(DeleteCommand([shapes[0]]))
        }
    }

    var made: Int { serial }
}

let editor = Editor()
let artist = Artist(editor)
for i in 0..<3500 {
    artist.draw()
    if i % 5 == 0 { usleep(2_700) }
}
print("commands \(editor.performed) shapes made \(artist.made) on canvas \(editor.shapes.count) undo \(editor.depth)")
print(String(format: "ink %.1f", editor.ink))
