// An outline editor: a tree of headings that is edited by commands with a limited undo history.
import Foundation

final class Heading {
    let id: Int
    var title: String
    private(set) weak var parent: Heading?
    private(set) var children: [Heading] = []

    init(id: Int, title: String) {
        self.id = id
        self.title = title
    }

    func insert(_ child: Heading, at index: Int) {
        children.insert(child, at: min(index, children.count))
        child.parent = self
    }

    func detach(_ child: Heading) -> Int? {
        guard let index = children.firstIndex(where: { $0 === child }) else { return nil }
        children.remove(at: index)
        child.parent = nil
        return index
    }

    var size: Int { children.reduce(1) { $0 + $1.size } }
    var depth: Int { 1 + (children.map(\.depth).max() ?? 0) }
}

class Edit {
    func apply() {}
    func revert() {}
}

final class InsertEdit: Edit {
    private let parent: Heading
    private let child: Heading
    private let index: Int

    init(parent: Heading, child: Heading, index: Int) {
        self.parent = parent
        self.child = child
        self.index = index
    }

    override func apply() { parent.insert(child, at: index) }
    override func revert() { _ = parent.detach(child) }
}

final class RenameEdit: Edit {
    private let heading: Heading
    private let newTitle: String
    private let oldTitle: String

    init(heading: Heading, newTitle: String) {
        self.heading = heading
        self.newTitle = newTitle
        oldTitle = heading.title
    }

    override func apply() { heading.title = newTitle }
    override func revert() { heading.title = oldTitle }
}

final class MoveEdit: Edit {
    private let heading: Heading
    private let target: Heading
    private var source: (parent: Heading, index: Int)?

    init(heading: Heading, target: Heading) {
        self.heading = heading
        self.target = target
    }

    override func apply() {
        guard let parent = heading.parent, let index = parent.detach(heading) else { return }
        source = (parent, index)
        target.insert(heading, at: 0)
    }

    override func revert() {
        guard let source, target.detach(heading) != nil else { return }
        source.parent.insert(heading, at: source.index)
    }
}

final class History {
    private var done: [Edit] = []
    private var undone: [Edit] = []
    private let limit: Int
    private(set) var performed = 0

    init(limit: Int) {
        self.limit = limit
    }

    func perform(_ edit: Edit) {
        edit.apply()
        done.append(edit)
        undone.removeAll()
        if done.count > limit {
            done.removeFirst(done.count - limit)
        }
        performed += 1
    }

    func undo() -> Bool {
        guard let edit = done.popLast() else { return false }
        edit.revert()
        undone.append(edit)
        return true
    }

    func redo() -> Bool {
        guard let edit = undone.popLast() else { return false }
        edit.apply()
        done.append(edit)
        return true
    }
}

final class Editor {
    let root = Heading(id: 0, title: "Handbook")
    let history = History(limit: 80)
    private var nextId = 1
    private var cursor: Heading

    init() {
        cursor = root
    }

    func type(_ title: String) {
        let heading = Heading(id: nextId, title: title)
        nextId += 1
        history.perform(InsertEdit(parent: cursor, child: heading, index: nextId % 4))
    }

    func goDown(_ choice: Int) {
        cursor = cursor.children.isEmpty ? root : cursor.children[choice % cursor.children.count]
    }

    func goHome() {
        cursor = root
    }

    func rename(_ title: String) {
        history.perform(RenameEdit(heading: cursor, newTitle: title))
    }

    func promoteFirstChild() {
        guard cursor !== root, let child = cursor.children.first else { return }
        history.perform(MoveEdit(heading: child, target: root))
    }
}

let editor = Editor()
var undos = 0
var redos = 0
for step in 0..<2_400 {
    switch step % 12 {
    case 0: editor.goHome()
    case 1, 4: editor.goDown(step * 7 / 5)
    case 6: editor.rename("Chapter \(step)")
    case 8 where step % 36 == 8: editor.promoteFirstChild()
    case 9 where step % 60 == 9:
        editor.goHome()
        for _ in 0..<5 where editor.history.undo() { undos += 1 }
        for _ in 0..<3 where editor.history.redo() { redos += 1 }
    default: editor.type("Section \(step)")
    }
    if step % 100 == 99 {
        usleep(8_000)
    }
}
print("headings \(editor.root.size), depth \(editor.root.depth), edits \(editor.history.performed)")
print("undone \(undos), redone \(redos), chapters at top \(editor.root.children.count)")
print("first titles: \(editor.root.children.prefix(3).map(\.title).joined(separator: ", "))")
