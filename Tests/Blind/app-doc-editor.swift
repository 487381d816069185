import Foundation

final class Paragraph {
    var text: String
    var style: String
    init(text: String, style: String = "body") {
        self.text = text
        self.style = style
    }
}

final class Snapshot {
    let index: Int
    let before: String
    let after: String
    let style: String
    init(index: Int, before: String, after: String, style: String) {
        self.index = index
        self.before = before
        self.after = after
        self.style = style
    }
}

final class UndoGroup {
    let label: String
    var snapshots: [Snapshot] = []
    init(label: String) { self.label = label }
}

final class UndoManagerBox {
    private var groups: [UndoGroup] = []
    private var redoable: [UndoGroup] = []
    private var open: UndoGroup?
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func record(_ label: String, _ snapshot: Snapshot) {
        redoable.removeAll()
        if let open {
            open.snapshots.append(snapshot)
            return
        }
        let group = UndoGroup(label: label)
        group.snapshots.append(snapshot)
        push(group)
    }

    private func push(_ group: UndoGroup) {
        if groups.count == limit { groups.removeFirst() }
        groups.append(group)
    }

    func begin(_ label: String) { open = UndoGroup(label: label) }

    func end() {
        guard let group = open else { return }
        open = nil
        if !group.snapshots.isEmpty { groups.append(group) }
    }

    func undo() -> UndoGroup? {
        guard let group = groups.popLast() else { return nil }
        redoable.append(group)
        return group
    }

    func redo() -> UndoGroup? {
        guard let group = redoable.popLast() else { return nil }
        push(group)
        return group
    }
}

final class Document {
    let title: String
    private(set) var paragraphs: [Paragraph]
    let undoManager = UndoManagerBox(limit: 50)
    private(set) var edits = 0

    init(title: String, count: Int) {
        self.title = title
        paragraphs = (0..<count).map { Paragraph(text: "Paragraph \($0) of \(title) with some words in it.") }
    }

    func replace(_ index: Int, with text: String, label: String) {
        let paragraph = paragraphs[index]
        undoManager.record(label, Snapshot(index: index, before: paragraph.text, after: text, style: paragraph.style))
        paragraph.text = text
        edits += 1
    }

    func replaceAll(_ word: String, with other: String) -> Int {
        undoManager.begin("replace all")
        var hits = 0
        for index in paragraphs.indices where paragraphs[index].text.contains(word) {
            replace(index, with: paragraphs[index].text.replacingOccurrences(of: word, with: other), label: "replace")
            hits += 1
        }
        undoManager.end()
        return hits
    }

    func undo() {
        guard let group = undoManager.undo() else { return }
        for snapshot in group.snapshots.reversed() { paragraphs[snapshot.index].text = snapshot.before }
    }

    func redo() {
        guard let group = undoManager.redo() else { return }
        for snapshot in group.snapshots { paragraphs[snapshot.index].text = snapshot.after }
    }

    var length: Int { paragraphs.reduce(0) { $0 + $1.text.count } }
}

final class SpellChecker {
    private var known: Set<String> = ["paragraph", "of", "with", "some", "words", "in", "it", "letter", "report"]
    private(set) var learned = 0
    func check(_ document: Document) -> Int {
        var unknown = 0
        for paragraph in document.paragraphs {
            for word in paragraph.text.lowercased().split(whereSeparator: { !$0.isLetter }) where !known.contains(String(word)) {
                unknown += 1
                if word.count < 5 {
                    known.insert(String(word))
                    learned += 1
                }
            }
        }
        return unknown
    }
}

final class Editor {
    private var documents: [Document] = []
    private let checker = SpellChecker()
    private var replaced = 0
    private var unknown = 0

    func open(_ title: String, paragraphs: Int) { documents.append(Document(title: title, count: paragraphs)) }

    func work(_ step: Int) {
        let document = documents[step % documents.count]
        document.replace(step % document.paragraphs.count, with: "Some words in step \(step) with number \(step * 13 % 101).", label: "typing")
        switch step % 8 {
        case 1:
            document.undo()
            document.redo()
        case 3: document.undo()
        case 5:
            let from = String(step * 13 % 101), to = String((step * 17 + 5) % 101)
            replaced += document.replaceAll(" \(from).", with: " \(to).")
        case 7: unknown += checker.check(document)
        default: break
        }
    }

    func close() {
        for document in documents { print("\(document.title): \(document.edits) edits, \(document.length) characters") }
        print("replaced \(replaced), unknown \(unknown), learned \(checker.learned)")
    }
}

let editor = Editor()
editor.open("letter", paragraphs: 12)
editor.open("report", paragraphs: 30)
editor.open("novel", paragraphs: 45)
for step in 0..<1200 {
    editor.work(step)
    usleep(1500)
}
editor.close()
