import Foundation

final class Edit {
    let line: Int
    let before: String
    let after: String
    init(line: Int, before: String, after: String) {
        self.line = line
        self.before = before
        self.after = after
    }
}

final class EditGroup {
    let label: String
    private(set) var edits: [Edit] = []
    init(_ label: String) { self.label = label }
    func add(_ e: Edit) { edits.append(e) }
    var isEmpty: Bool { edits.isEmpty }
}

final class UndoHistory {
    private var undoStack: [EditGroup] = []
    private var redoStack: [EditGroup] = []
    private var macros: [EditGroup] = []
    private let limit = 40

    func record(_ g: EditGroup) {
        guard !g.isEmpty else { return }
        redoStack.removeAll()
        undoStack.append(g)
        if undoStack.count > limit { undoStack.removeFirst(undoStack.count - limit) }
    }

    func recordMacro(_ g: EditGroup) {
        record(g)
        macros.append(g)
    }

    func popUndo() -> EditGroup? {
        guard let g = undoStack.popLast() else { return nil }
        redoStack.append(g)
        return g
    }

    func popRedo() -> EditGroup? {
        guard let g = redoStack.popLast() else { return nil }
        undoStack.append(g)
        return g
    }

    var lastMacro: EditGroup? { macros.last }
    var depth: Int { undoStack.count }
}

final class Document {
    let title: String
    private(set) var lines: [String]
    let history = UndoHistory()
    private(set) var revision = 0

    init(title: String, lines: [String]) {
        self.title = title
        self.lines = lines
    }

    private func apply(_ line: Int, _ text: String, in group: EditGroup) {
        group.add(Edit(line: line, before: lines[line], after: text))
        lines[line] = text
        revision += 1
    }

    func type(_ text: String, line: Int) {
        let g = EditGroup("Typing")
        var s = lines[line] + text
        if s.count > 60 { s = String(s.suffix(30)) }
        apply(line, s, in: g)
        history.record(g)
    }

    func clear(line: Int) {
        let g = EditGroup("Clear")
        if !lines[line].isEmpty { apply(line, "", in: g) }
        history.record(g)
    }

    @discardableResult
    func replaceAll(_ what: String, with new: String) -> Int {
        let g = EditGroup("Replace \(what)")
        for i in lines.indices where lines[i].contains(what) {
            apply(i, lines[i].replacingOccurrences(of: what, with: new), in: g)
        }
        if !g.isEmpty { history.recordMacro(g) }
        return g.edits.count
    }

    func repeatLastMacro() -> Int {
        guard let m = history.lastMacro else { return 0 }
        let g = EditGroup("Repeat \(m.label)")
        for e in m.edits where lines[e.line] == e.before {
            apply(e.line, e.after, in: g)
        }
        history.record(g)
        return g.edits.count
    }

    func undo() {
        guard let g = history.popUndo() else { return }
        for e in g.edits.reversed() { lines[e.line] = e.before }
        revision += 1
    }

    func redo() {
        guard let g = history.popRedo() else { return }
        for e in g.edits { lines[e.line] = e.after }
        revision += 1
    }

    var wordCount: Int {
        lines.reduce(0) { $0 + $1.split(separator: " ").count }
    }
}

final class StatusBar {
    private(set) var text = ""
    func show(_ d: Document) {
        text = "\(d.title) rev \(d.revision) words \(d.wordCount) undo \(d.history.depth)"
    }
}

final class Typist {
    private let document: Document
    private let bar: StatusBar
    private let words = ["alpha", "beta", "gamma", "delta", "omega", "sigma"]
    private var n = 0

    init(document: Document, bar: StatusBar) {
        self.document = document
        self.bar = bar
    }

    func work() {
        n += 1
        let line = (n * 7) % document.lines.count
        switch n % 17 {
        case 3:
            document.undo()
        case 4:
            document.redo()
        case 9:
            document.clear(line: line)
        case 12:
            document.replaceAll(words[n % words.count], with: words[(n + 1) % words.count])
        case 15 where n % 4 == 0:
            _ = document.repeatLastMacro()
        default:
            document.type(" " + words[(n / 3) % words.count], line: line)
        }
        if n % 10 == 0 { bar.show(document) }
    }
}

func editSession(steps: Int) -> String {
    let document = Document(title: "report.txt", lines: (0..<30).map { "line \($0) alpha" })
    let bar = StatusBar()
    let typist = Typist(document: document, bar: bar)
    for i in 0..<steps {
        typist.work()
        if i % 4 == 0 { usleep(2_500) }
    }
    bar.show(document)
    return bar.text
}

print(editSession(steps: 3000))
