import Foundation

struct Vec2 {
    var x: Double
    var y: Double
    static func + (a: Vec2, b: Vec2) -> Vec2 { Vec2(x: a.x + b.x, y: a.y + b.y) }
}

final class Material {
    let name: String
    var roughness: Double
    init(name: String, roughness: Double) {
        self.name = name
        self.roughness = roughness
    }
}

final class Node {
    let id: Int
    var position: Vec2
    let material: Material
    weak var parent: Node?
    var children: [Node] = []

    init(id: Int, position: Vec2, material: Material) {
        self.id = id
        self.position = position
        self.material = material
    }

    func attach(_ child: Node) {
        child.parent = self
        children.append(child)
    }

    func detach() {
        parent?.children.removeAll { $0 === self }
        parent = nil
    }
}

enum Edit {
    case move(id: Int, by: Vec2)
    case insert(id: Int)
    case remove(id: Int)
}

final class UndoStep {
    let title: String
    let edits: [Edit]
    init(title: String, edits: [Edit]) {
        self.title = title
        self.edits = edits
    }
}

final class Scene {
    let root: Node
    var nodes: [Int: Node] = [:]
    var detached: [Int: Node] = [:]

    init(material: Material) {
        root = Node(id: 0, position: Vec2(x: 0, y: 0), material: material)
    }

    func add(_ node: Node) {
        root.attach(node)
        nodes[node.id] = node
    }

    func takeOut(_ id: Int) {
        guard let node = nodes.removeValue(forKey: id) else { return }
        node.detach()
        detached[id] = node
    }

    func putBack(_ id: Int) {
        guard let node = detached.removeValue(forKey: id) else { return }
        add(node)
    }
}

final class Editor {
    let scene: Scene
    private var undoSteps: [UndoStep] = []
    private var redoSteps: [UndoStep] = []
    private let depth = 30
    private var nextID = 1

    init(scene: Scene) { self.scene = scene }

    func insert(at position: Vec2, material: Material) -> Int {
        let id = nextID
        nextID += 1
        scene.add(Node(id: id, position: position, material: material))
        record(UndoStep(title: "Insert \(id)", edits: [.insert(id: id)]))
        return id
    }

    func remove(_ id: Int) {
        scene.takeOut(id)
        record(UndoStep(title: "Delete \(id)", edits: [.remove(id: id)]))
    }

    func nudge(_ id: Int, by offset: Vec2) {
        guard let node = scene.nodes[id] else { return }
        node.position = node.position + offset
        record(UndoStep(title: "Move \(id)", edits: [.move(id: id, by: offset)]))
    }

    private func record(_ step: UndoStep) {
        redoSteps.removeAll()
        undoSteps.append(step)
        while undoSteps.count > depth {
            let oldest = undoSteps.removeFirst()
            for case .remove(let id) in oldest.edits {
                scene.detached[id] = nil
            }
        }
    }

    func undo() {
        guard let step = undoSteps.popLast() else { return }
        for edit in step.edits.reversed() {
            switch edit {
            case .insert(let id): scene.takeOut(id)
            case .remove(let id): scene.putBack(id)
            case .move(let id, let by):
                if let node = scene.nodes[id] { node.position = node.position + Vec2(x: -by.x, y: -by.y) }
            }
        }
        redoSteps.append(step)
    }
}

let stone = Material(name: "stone", roughness: 0.8)
let glass = Material(name: "glass", roughness: 0.1)
let editor = Editor(scene: Scene(material: stone))
var visible: [Int] = []
for round in 0..<600 {
    let id = editor.insert(at: Vec2(x: Double(round), y: 1), material: round % 2 == 0 ? stone : glass)
    if round % 10 == 9 {
        editor.undo()
    } else {
        visible.append(id)
    }
    if visible.count > 40 { editor.remove(visible.removeFirst()) }
    editor.nudge(visible[visible.count / 2], by: Vec2(x: 0.5, y: -0.5))
    usleep(1500)
}
print("nodes in scene: \(editor.scene.nodes.count)")
print("last x: \(editor.scene.nodes[visible.last!]!.position.x)")
