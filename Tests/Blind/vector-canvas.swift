import Foundation

// Model of a vector drawing tool: shapes are changed through commands that can be undone.

struct Point: Equatable {
    var x: Double
    var y: Double
}

struct Path {
    var points: [Point]
    var color: UInt32
    var width: Double

    mutating func translate(_ dx: Double, _ dy: Double) {
        for index in points.indices {
            points[index].x += dx
            points[index].y += dy
        }
    }

    mutating func smooth() {
        guard points.count > 2 else { return }
        let old = points
        for index in 1..<(old.count - 1) {
            points[index].x = (old[index - 1].x + 2 * old[index].x + old[index + 1].x) / 4
            points[index].y = (old[index - 1].y + 2 * old[index].y + old[index + 1].y) / 4
        }
    }

    var length: Double {
        zip(points, points.dropFirst()).reduce(0) { sum, pair in
            let dx = pair.1.x - pair.0.x, dy = pair.1.y - pair.0.y
            return sum + (dx * dx + dy * dy).squareRoot()
        }
    }
}

final class EditCommand {
    let title: String
    let index: Int
    let before: Path
    let after: Path

    init(title: String, index: Int, before: Path, after: Path) {
        self.title = title
        self.index = index
        self.before = before
        self.after = after
    }
}

final class UndoHistory {
    private var done: [EditCommand] = []
    private var undone: [EditCommand] = []

    func record(_ command: EditCommand) {
        done.append(command)
        undone.removeAll()
    }

    func undo() -> EditCommand? {
        guard let command = done.popLast() else { return nil }
        undone.append(command)
        return command
    }

    func redo() -> EditCommand? {
        guard let command = undone.popLast() else { return nil }
        done.append(command)
        return command
    }

    /// Titles for the history menu, newest first.
    func menu(_ entries: Int) -> [String] { done.suffix(entries).reversed().map(\.title) }
}

final class Canvas {
    private(set) var paths: [Path]
    private let history = UndoHistory()

    init(pathCount: Int) {
        paths = (0..<pathCount).map { index in
            let points = (0..<24).map { Point(x: Double($0 * 5), y: 40 + 20 * sin(Double($0 + index))) }
            return Path(points: points, color: UInt32(index * 4_099), width: 1.5)
        }
    }

    func edit(_ title: String, at index: Int, _ change: (inout Path) -> Void) {
        let before = paths[index]
        change(&paths[index])
        history.record(EditCommand(title: title, index: index, before: before, after: paths[index]))
    }

    func undo() { if let command = history.undo() { paths[command.index] = command.before } }
    func redo() { if let command = history.redo() { paths[command.index] = command.after } }
    func menu() -> String { history.menu(10).joined(separator: " | ") }
    var totalLength: Double { paths.reduce(0) { $0 + $1.length } }
}

let canvas = Canvas(pathCount: 30)
var menuBytes = 0

// One stroke of the pen tablet is ten edits; now and then the artist steps back and forth.
for stroke in 0..<140 {
    for step in 0..<10 {
        let index = (stroke * 7 + step) % 30
        switch step % 3 {
        case 0: canvas.edit("Move path \(index)", at: index) { $0.translate(Double(step) - 4, 1) }
        case 1: canvas.edit("Smooth path \(index)", at: index) { $0.smooth() }
        default: canvas.edit("Recolor path \(index)", at: index) { $0.color = $0.color &* 33 &+ UInt32(stroke) }
        }
    }
    if stroke % 10 == 4 {
        for _ in 0..<6 { canvas.undo() }
        for _ in 0..<6 { canvas.redo() }
    }
    menuBytes += canvas.menu().utf8.count
    Thread.sleep(forTimeInterval: 0.006)
}
print(String(format: "paths %d, length %.2f, menu %d bytes", canvas.paths.count, canvas.totalLength, menuBytes))
