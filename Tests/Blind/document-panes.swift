import Foundation

protocol PaneDelegate: AnyObject {
    func paneDidEdit(_ pane: Pane, delta: Int)
}

protocol DocumentDelegate: AnyObject {
    func documentBecameDirty(_ document: Document)
}

final class Pane {
    let name: String
    var parent: Pane?
    var delegate: PaneDelegate?
    private(set) var children: [Pane] = []
    private var text: [UInt8] = []

    init(name: String, delegate: PaneDelegate) {
        self.name = name
        self.delegate = delegate
    }

    func split(into names: [String]) {
        guard let delegate else { return }
        for name in names {
            let child = Pane(name: name, delegate: delegate)
            child.parent = self
            children.append(child)
        }
    }

    func type(_ string: String) {
        text.append(contentsOf: string.utf8)
        if text.count > 256 { text.removeFirst(text.count - 256) }
        delegate?.paneDidEdit(self, delta: string.utf8.count)
    }

    var path: String {
        parent.map { $0.path + "/" + name } ?? name
    }

    var byteCount: Int {
        children.reduce(text.count) { $0 + $1.byteCount }
    }

    func dismantle() {
        for child in children { child.dismantle() }
        children.removeAll()
        parent = nil
        delegate = nil
    }
}

final class Document: PaneDelegate {
    let number: Int
    var delegate: DocumentDelegate?
    private(set) var root: Pane!
    private(set) var edits = 0
    private var lastEdited: Pane?

    init(number: Int, delegate: DocumentDelegate) {
        self.number = number
        self.delegate = delegate
        root = Pane(name: "doc\(number)", delegate: self)
        root.split(into: ["left", "right"])
        root.children[0].split(into: ["outline", "notes"])
    }

    func paneDidEdit(_ pane: Pane, delta: Int) {
        if edits == 0 { delegate?.documentBecameDirty(self) }
        edits += delta
        lastEdited = pane
    }

    func type(_ string: String, in choice: Int) {
        let left = root.children[0]
        [root.children[1], left.children[0], left.children[1]][choice % 3].type(string)
    }

    /// Writes the document; returns the bytes written.
    func save() -> Int {
        edits = 0
        return root.byteCount + (lastEdited?.path.utf8.count ?? 0)
    }

    func close() -> Int {
        let size = save()
        root.dismantle()
        lastEdited = nil
        delegate = nil
        return size
    }
}

final class Workspace: DocumentDelegate {
    private let capacity: Int
    private var open: [Document] = []
    private(set) var dirtyEvents = 0
    private(set) var closed = 0
    private(set) var bytes = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    func documentBecameDirty(_ document: Document) {
        dirtyEvents += 1
    }

    func document(_ number: Int) -> Document {
        if let index = open.firstIndex(where: { $0.number == number }) {
            let found = open.remove(at: index)
            open.append(found)
            return found
        }
        if open.count == capacity {
            bytes += open.removeFirst().close()
            closed += 1
        }
        let made = Document(number: number, delegate: self)
        open.append(made)
        return made
    }

    func saveAll() -> Int {
        let size = open.reduce(0) { $0 + $1.save() }
        bytes += size
        return open.count
    }
}

let workspace = Workspace(capacity: 24)
for round in 0..<45 {
    for i in 0..<5 {
        let number = round * 5 + i
        let document = workspace.document(number)
        document.type("opened in round \(round)", in: i)
        // Editors return to recently opened documents.
        for back in [2, 7, 13] where number >= back {
            workspace.document(number - back).type("edit \(back) ", in: back + i)
        }
    }
    if round % 6 == 5 { _ = workspace.saveAll() }
    usleep(11_000)
}
let saved = workspace.saveAll()
print("closed \(workspace.closed), saved \(saved) at the end, \(workspace.dirtyEvents) dirty events, \(workspace.bytes) bytes")
