import Foundation

protocol Edit: AnyObject {
    func apply(to text: Buffer)
    func revert(in text: Buffer)
}

final class Buffer {
    private(set) var characters: [Character] = []
    private(set) var markers: [Marker] = []

    func insert(_ text: [Character], at index: Int) {
        characters.insert(contentsOf: text, at: index)
        for marker in markers where marker.offset >= index { marker.offset += text.count }
    }

    func remove(at index: Int, count: Int) -> [Character] {
        let removed = Array(characters[index..<(index + count)])
        characters.removeSubrange(index..<(index + count))
        for marker in markers where marker.offset > index {
            marker.offset = max(index, marker.offset - count)
        }
        return removed
    }

    func mark(_ marker: Marker) { markers.append(marker) }
    func unmark(_ marker: Marker) { markers.removeAll { $0 === marker } }

    var wordCount: Int { characters.split { $0 == " " || $0 == "\n" }.count }
}

final class Marker {
    var offset: Int
    let label: String
    init(offset: Int, label: String) {
        self.offset = offset
        self.label = label
    }
}

final class InsertEdit: Edit {
    private let text: [Character]
    private let index: Int
    init(text: String, index: Int) {
        self.text = Array(text)
        self.index = index
    }
    func apply(to buffer: Buffer) { buffer.insert(text, at: index) }
    func revert(in buffer: Buffer) { _ = buffer.remove(at: index, count: text.count) }
}

final class DeleteEdit: Edit {
    private let index: Int
    private let count: Int
    private var removed: [Character] = []
    init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }
    func apply(to buffer: Buffer) { removed = buffer.remove(at: index, count: count) }
    func revert(in buffer: Buffer) { buffer.insert(removed, at: index) }
}

final class MarkEdit: Edit {
    private let marker: Marker
    init(marker: Marker) { self.marker = marker }
    func apply(to buffer: Buffer) { buffer.mark(marker) }
    func revert(in buffer: Buffer) { buffer.unmark(marker) }
}

final class History {
    private var done: [Edit] = []
    private var undone: [Edit] = []
    private let depth: Int
    private(set) var forgotten = 0

    init(depth: Int) { self.depth = depth }

    func perform(_ edit: Edit, on buffer: Buffer) {
        edit.apply(to: buffer)
        undone.removeAll()
        push(edit)
    }

    private func push(_ edit: Edit) {
        done.append(edit)
        if done.count > depth {
            done.removeFirst()
            forgotten += 1
        }
    }

    func undo(on buffer: Buffer) -> Bool {
        guard let edit = done.popLast() else { return false }
        edit.revert(in: buffer)
        undone.append(edit)
        return true
    }

    func redo(on buffer: Buffer) -> Bool {
        guard let edit = undone.popLast() else { return false }
        edit.apply(to: buffer)
        push(edit)
        return true
    }
}

final class Document {
    let name: String
    let buffer = Buffer()
    let history = History(depth: 100)
    init(name: String) { self.name = name }
}

final class Typist {
    private let document: Document
    private var state: UInt32
    private let words = ["the ", "river ", "ran ", "below ", "old ", "stone ", "bridge ", "slowly\n"]
    private(set) var undos = 0
    private(set) var redos = 0

    init(document: Document, seed: UInt32) {
        self.document = document
        state = seed
    }

    private func draw(_ n: Int) -> Int {
        state = state &* 1664525 &+ 1013904223
        return Int(state >> 9) % n
    }

    func act() {
        let length = document.buffer.characters.count
        switch draw(20) {
        case 0..<11:
            document.history.perform(InsertEdit(text: words[draw(words.count)], index: draw(length + 1)),
                                     on: document.buffer)
        case 11..<15 where length > 12:
            let count = 1 + draw(8)
            document.history.perform(DeleteEdit(index: draw(length - count), count: count), on: document.buffer)
        case 15 where document.buffer.markers.count < 20:
            let marker = Marker(offset: draw(length + 1), label: "note \(draw(1000))")
            document.history.perform(MarkEdit(marker: marker), on: document.buffer)
        case 16, 17:
            for _ in 0..<(1 + draw(6)) where document.history.undo(on: document.buffer) { undos += 1 }
        case 18:
            while draw(4) > 0, document.history.redo(on: document.buffer) { redos += 1 }
        default:
            break
        }
    }
}

func writeNovel() {
    let document = Document(name: "novel.txt")
    let typist = Typist(document: document, seed: 271)
    for keystroke in 0..<1_500 {
        typist.act()
        if keystroke % 6 == 0 { usleep(7_000) }
    }
    print("\(document.name): \(document.buffer.wordCount) words, \(document.buffer.markers.count) notes")
    print("undone \(typist.undos), redone \(typist.redos), beyond reach \(document.history.forgotten)")
    for marker in document.buffer.markers.sorted(by: { $0.offset < $1.offset }) {
        print("  \(marker.label) at \(marker.offset)")
    }
}

writeNovel()
