import Foundation

final class PaintCommand {
    let points: [Int]
    let color: UInt32
    init(points: [Int], color: UInt32) {
        self.points = points
        self.color = color
    }
}

final class UndoHistory {
    static let shared = UndoHistory()
    private var undo: [String: [PaintCommand]] = [:]
    private var redo: [String: [PaintCommand]] = [:]

    func record(_ command: PaintCommand, canvas: String) {
        undo[canvas, default: []].append(command)
        redo[canvas] = nil
    }

    func undoLast(canvas: String) -> PaintCommand? {
        guard let command = undo[canvas]?.popLast() else { return nil }
        redo[canvas, default: []].append(command)
        return command
    }

    func discard(canvas: String) {
        undo[canvas] = nil
        redo[canvas] = nil
    }

    var depth: Int { undo.values.reduce(0) { $0 + $1.count } }
}

final class Canvas {
    let name: String
    private var pixels = [UInt32](repeating: 0, count: 256)
    private var isOpen = true

    init(name: String) { self.name = name }

    func stroke(seed: Int) {
        guard isOpen else { return }
        let command = PaintCommand(points: (0..<6).map { (seed &* 31 &+ $0 &* 7) & 255 },
                                   color: UInt32(truncatingIfNeeded: seed &* 2654435761))
        for point in command.points { pixels[point] ^= command.color }
        UndoHistory.shared.record(command, canvas: name)
    }

    func undo() {
        guard let command = UndoHistory.shared.undoLast(canvas: name) else { return }
        for point in command.points { pixels[point] ^= command.color }
    }

    func close() -> UInt32 {
        isOpen = false
        return pixels.reduce(0, ^)
    }
}

@main
struct Main {
    static func main() {
        var checksum: UInt32 = 0
        for drawing in 0..<6 {
            let canvas = Canvas(name: "drawing-\(drawing)")
            for seed in 0..<40 { canvas.stroke(seed: drawing * 100 + seed) }
            for _ in 0..<5 { canvas.undo() }
            for seed in 40..<45 { canvas.stroke(seed: drawing * 100 + seed) }
            checksum ^= canvas.close()
        }
        print("checksum \(checksum) undo depth \(UndoHistory.shared.depth)")
    }
}
