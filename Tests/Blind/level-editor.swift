import Foundation

// Level editor of a tile game. Brush strokes change rectangles of the map; the history has a
// fixed number of levels as set in the preferences.

struct Rect {
    let x: Int
    let y: Int
    let width: Int
    let height: Int
}

struct TileMap {
    let width: Int
    let height: Int
    private var cells: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        cells = Array(repeating: 0, count: width * height)
    }

    func read(_ rect: Rect) -> [UInt8] {
        (rect.y..<(rect.y + rect.height)).flatMap { cells[($0 * width + rect.x)..<($0 * width + rect.x + rect.width)] }
    }

    mutating func write(_ values: [UInt8], to rect: Rect) {
        for row in 0..<rect.height {
            let target = (rect.y + row) * width + rect.x
            for column in 0..<rect.width { cells[target + column] = values[row * rect.width + column] }
        }
    }

    var coverage: Double { Double(cells.filter { $0 != 0 }.count) / Double(cells.count) }

    var digest: UInt32 { cells.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 } }
}

final class BrushStroke {
    let rect: Rect
    let before: [UInt8]
    let after: [UInt8]

    init(rect: Rect, before: [UInt8], after: [UInt8]) {
        self.rect = rect
        self.before = before
        self.after = after
    }
}

struct Preferences {
    let undoLevels: Int
    let autosaveEvery: Int
}

final class LevelEditor {
    private var map = TileMap(width: 96, height: 64)
    private let preferences: Preferences
    private var undoStack: [BrushStroke] = []
    private var redoStack: [BrushStroke] = []
    private var saved: UInt32 = 0
    private(set) var strokes = 0

    init(preferences: Preferences) { self.preferences = preferences }

    func paint(_ rect: Rect, pattern: (Int, UInt8) -> UInt8) {
        let before = map.read(rect)
        let after = before.enumerated().map { pattern($0.offset, $0.element) }
        map.write(after, to: rect)
        push(BrushStroke(rect: rect, before: before, after: after))
        redoStack.removeAll(keepingCapacity: true)
        strokes += 1
        if strokes % preferences.autosaveEvery == 0 { saved = map.digest }
    }

    private func push(_ stroke: BrushStroke) {
        undoStack.append(stroke)
        let surplus = undoStack.count - preferences.undoLevels
        if surplus > 0 { undoStack.removeFirst(surplus) }
    }

    func undo(_ steps: Int) {
        for _ in 0..<steps {
            guard let stroke = undoStack.popLast() else { return }
            map.write(stroke.before, to: stroke.rect)
            redoStack.append(stroke)
        }
    }

    func redo() {
        while let stroke = redoStack.popLast() {
            map.write(stroke.after, to: stroke.rect)
            push(stroke)
        }
    }

    var status: String {
        String(format: "strokes %d, coverage %.3f, saved %x, digest %x", strokes, map.coverage, saved, map.digest)
    }
}

let editor = LevelEditor(preferences: Preferences(undoLevels: 120, autosaveEvery: 100))

for gesture in 0..<150 {
    for step in 0..<8 {
        let rect = Rect(x: (gesture * 11 + step * 3) % 80, y: (gesture * 5 + step) % 52, width: 12, height: 10)
        switch step % 4 {
        case 0: editor.paint(rect) { offset, old in offset % 3 == 0 ? UInt8(gesture % 8) : old }
        case 1: editor.paint(rect) { _, old in old == 0 ? 9 : old }
        case 2: editor.paint(rect) { offset, _ in UInt8(offset / 12 % 5) }
        default: editor.paint(rect) { offset, old in offset % 2 == 0 ? 0 : old &+ 1 }
        }
    }
    if gesture % 7 == 6 {
        editor.undo(10)
        if gesture % 2 == 0 { editor.redo() }
    }
    if gesture % 50 == 49 { print(editor.status) }
    usleep(6_000)
}
