import Foundation

struct Point: Sendable {
    var x: Int
    var y: Int
}

final class Shape: @unchecked Sendable {
    let id: Int
    var origin: Point
    init(id: Int, origin: Point) {
        self.id = id
        self.origin = origin
    }
}

protocol BoardCommand: AnyObject, Sendable {
    var title: String { get }
    func apply()
    func revert()
}

final class MoveCommand: BoardCommand, @unchecked Sendable {
    let title: String
    private let shape: Shape
    private let from: Point
    private let to: Point

    init(shape: Shape, to: Point) {
        title = "Move \(shape.id)"
        self.shape = shape
        self.from = shape.origin
        self.to = to
    }

    func apply() { shape.origin = to }
    func revert() { shape.origin = from }
}

final class MacroCommand: BoardCommand, @unchecked Sendable {
    let title: String
    let parts: [MoveCommand]
    private var rollback: () -> Void = {}

    init(title: String, parts: [MoveCommand]) {
        self.title = title
        self.parts = parts
    }

    func apply() {
        var done = 0
        for part in parts {
            part.apply()
            done += 1
        }
        let count = done
        rollback = {
            for part in self.parts.prefix(count).reversed() { part.revert() }
        }
    }

    func revert() { rollback() }
}

actor Board {
    private var shapes: [Shape] = []
    private var history: [any BoardCommand] = []
    private let limit = 25
    private(set) var executed = 0

    func populate(_ count: Int) {
        shapes = (0..<count).map { Shape(id: $0, origin: Point(x: $0, y: 0)) }
    }

    func move(_ index: Int, to point: Point) {
        execute(MoveCommand(shape: shapes[index % shapes.count], to: point))
    }

    func alignRow(startingAt index: Int, y: Int) {
        let members = (0..<3).map { shapes[(index + $0) % shapes.count] }
        let parts = members.map { MoveCommand(shape: $0, to: Point(x: $0.origin.x, y: y)) }
        execute(MacroCommand(title: "Align row", parts: parts))
    }

    private func execute(_ command: any BoardCommand) {
        command.apply()
        history.append(command)
        executed += 1
        if history.count > limit { history.removeFirst() }
    }

    func undo() {
        history.popLast()?.revert()
    }

    func closeSession() -> Int {
        history.removeAll()
        return shapes.reduce(0) { $0 + $1.origin.x + $1.origin.y }
    }
}

struct Participant: Sendable {
    let name: String
    let board: Board

    func work(from start: Int, count: Int) async {
        for step in start..<(start + count) {
            if step % 16 == 0 {
                await board.alignRow(startingAt: step, y: step % 50)
            } else {
                await board.move(step, to: Point(x: step % 80, y: step % 30))
            }
            if step % 20 == 19 { await board.undo() }
            try? await Task.sleep(nanoseconds: 2_000_000)
        }
    }
}

@main
struct BoardApp {
    static func main() async {
        let board = Board()
        await board.populate(32)
        await withTaskGroup(of: Void.self) { group in
            for (index, name) in ["ana", "ben", "chen", "dora"].enumerated() {
                group.addTask {
                    await Participant(name: name, board: board).work(from: index * 160, count: 160)
                }
            }
        }
        print("commands: \(await board.executed)")
        let total = await board.closeSession()
        print("checksum positive: \(total > 0)")
    }
}
