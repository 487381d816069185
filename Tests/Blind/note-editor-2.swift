import Foundation

struct TextEdit {
    let offset: Int
    let removed: String
    let inserted: String
}

struct JournalEntry {
    let revision: Int
    let edit: TextEdit
}

protocol DocumentObserver: AnyObject {
    func document(_ document: NoteDocument, didApply edit: TextEdit)
}

struct ObserverSlot {
    weak var target: DocumentObserver?
}

final class UndoStep {
    let label: String
    private let revert: () -> Void
    private var context: [UInt8]

    init(label: String, context: String, revert: @escaping () -> Void) {
        self.label = label
        self.context = Array(context.utf8)
        self.revert = revert
    }

    func perform() -> Int {
        revert()
        return context.count
    }
}

final class UndoManagerStack {
    private var undoable: [UndoStep] = []
    private let capacity: Int
    private(set) var performed = 0

    init(capacity: Int) { self.capacity = capacity }

    func register(_ step: UndoStep) {
        undoable.append(step)
        if undoable.count > capacity { undoable.removeFirst() }
    }

    @discardableResult
    func undo() -> Bool {
        guard let step = undoable.popLast() else { return false }
        _ = step.perform()
        performed += 1
        return true
    }

    func clear() { undoable.removeAll() }
    var count: Int { undoable.count }
}

final class NoteDocument {
    let name: String
    private(set) var content: [Character]
    private(set) var revision = 0
    let history: UndoManagerStack
    private var observers: [ObserverSlot] = []

    init(name: String, content: String, undoCapacity: Int) {
        self.name = name
        self.content = Array(content)
        history = UndoManagerStack(capacity: undoCapacity)
    }

    func add(_ observer: DocumentObserver) {
        observers.append(ObserverSlot(target: observer))
    }

    func apply(_ edit: TextEdit, label: String) {
        perform(edit)
        let inverse = TextEdit(offset: edit.offset, removed: edit.inserted, inserted: edit.removed)
        history.register(UndoStep(label: label, context: String(content.prefix(80))) {
            self.perform(inverse)
        })
    }

    private func perform(_ edit: TextEdit) {
        let range = edit.offset..<(edit.offset + edit.removed.count)
        content.replaceSubrange(range, with: Array(edit.inserted))
        revision += 1
        observers.removeAll { $0.target == nil }
        for slot in observers { slot.target?.document(self, didApply: edit) }
    }

    func insert(_ text: String, at offset: Int) {
        apply(TextEdit(offset: min(offset, content.count), removed: "", inserted: text), label: "insert")
    }

    func delete(at offset: Int, count: Int) {
        let start = min(offset, content.count)
        let end = min(start + count, content.count)
        apply(TextEdit(offset: start, removed: String(content[start..<end]), inserted: ""), label: "delete")
    }

    func close() {
        history.clear()
        observers.removeAll()
    }
}

final class WordCounter: DocumentObserver {
    private(set) var words = 0
    private(set) var updates = 0
    func document(_ document: NoteDocument, didApply edit: TextEdit) {
        updates += 1
        words = document.content.split(separator: " ").count
    }
}

final class OutlinePane: DocumentObserver {
    private var headings: [String] = []
    private let owner: NoteDocument
    init(of document: NoteDocument) { owner = document }

    func document(_ document: NoteDocument, didApply edit: TextEdit) {
        headings = String(owner.content).split(separator: "\n").filter { $0.hasPrefix("#") }.map(String.init)
    }
    var size: Int { headings.count }
}

final class ChangeJournal: DocumentObserver {
    private var entries: [JournalEntry] = []
    private let base: String
    init(base: String) { self.base = base }

    func document(_ document: NoteDocument, didApply edit: TextEdit) {
        entries.append(JournalEntry(revision: document.revision, edit: edit))
    }

    func replay() -> String {
        var text = Array(base)
        for entry in entries {
            let range = entry.edit.offset..<(entry.edit.offset + entry.edit.removed.count)
            text.replaceSubrange(range, with: Array(entry.edit.inserted))
        }
        return String(text)
    }
    var length: Int { entries.count }
}

final class Workspace {
    private var pinned: [NoteDocument] = []
    private var journals: [String: ChangeJournal] = [:]
    private var counters: [String: WordCounter] = [:]
    private(set) var scratchWords = 0
    private(set) var scratchUndos = 0

    func pin(_ name: String) {
        let text = "# \(name)\nnotes for \(name) "
        let document = NoteDocument(name: name, content: text, undoCapacity: 400)
        let journal = ChangeJournal(base: text)
        let counter = WordCounter()
        document.add(journal)
        document.add(counter)
        journals[name] = journal
        counters[name] = counter
        pinned.append(document)
    }

    func editPinned(round: Int) {
        for (index, document) in pinned.enumerated() {
            document.insert("entry \(round) ", at: (round * 7 + index) % (document.content.count + 1))
            if round % 4 == 3 { document.delete(at: round % 11, count: 3) }
        }
    }

    func editScratch(number: Int) {
        let document = NoteDocument(name: "scratch-\(number)", content: "# draft\n", undoCapacity: 12)
        let counter = WordCounter()
        let outline = OutlinePane(of: document)
        document.add(counter)
        document.add(outline)
        for step in 0..<18 {
            document.insert(step % 6 == 0 ? "\n# part \(step)\n" : "line \(step) ", at: document.content.count)
        }
        for _ in 0..<number % 5 {
            if document.history.undo() { scratchUndos += 1 }
        }
        scratchWords += counter.words + outline.size
        document.close()
    }

    func finish() -> String {
        var consistent = 0
        var restored = 0
        var changes = 0
        var updates = 0
        for document in pinned {
            if journals[document.name]?.replay() == String(document.content) { consistent += 1 }
            changes += journals[document.name]?.length ?? 0
            updates += counters[document.name]?.updates ?? 0
            while document.history.undo() {}
            if String(document.content) == "# \(document.name)\nnotes for \(document.name) " { restored += 1 }
        }
        let undone = pinned.reduce(0) { $0 + $1.history.performed }
        return "pinned=\(pinned.count) consistent=\(consistent) changes=\(changes) updates=\(updates) undone=\(undone) restored=\(restored)"
    }
}

let workspace = Workspace()
for name in ["inbox", "journal", "ideas", "groceries", "reading"] { workspace.pin(name) }
for round in 0..<64 {
    workspace.editPinned(round: round)
    for draft in 0..<4 { workspace.editScratch(number: round * 4 + draft) }
    usleep(10_000)
}
print("scratch words=\(workspace.scratchWords) undos=\(workspace.scratchUndos)")
print(workspace.finish())
