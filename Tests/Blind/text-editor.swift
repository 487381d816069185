import Foundation

// Editor core: a rope of text pieces, commands with undo and redo,
// markers that move with the text, and a scripted session.

final class RopeNode {
    let left: RopeNode?
    let right: RopeNode?
    let text: String
    let length: Int
    let height: Int

    init(text: String) {
        left = nil
        right = nil
        self.text = text
        length = text.utf8.count
        height = 1
    }

    init(_ left: RopeNode, _ right: RopeNode) {
        self.left = left
        self.right = right
        text = ""
        length = left.length + right.length
        height = max(left.height, right.height) + 1
    }

    func write(into out: inout String) {
        if let left, let right {
            left.write(into: &out)
            right.write(into: &out)
        } else {
            out += text
        }
    }

    func split(at offset: Int) -> (RopeNode?, RopeNode?) {
        if offset <= 0 { return (nil, self) }
        if offset >= length { return (self, nil) }
        guard let left, let right else {
            let index = text.utf8.index(text.startIndex, offsetBy: offset)
            return (RopeNode(text: String(text[..<index])), RopeNode(text: String(text[index...])))
        }
        if offset < left.length {
            let (a, b) = left.split(at: offset)
            return (a, RopeNode.join(b, right))
        }
        let (a, b) = right.split(at: offset - left.length)
        return (RopeNode.join(left, a), b)
    }

    static func join(_ a: RopeNode?, _ b: RopeNode?) -> RopeNode? {
        guard let a else { return b }
        guard let b else { return a }
        if a.left == nil, b.left == nil, a.length + b.length < 64 { return RopeNode(text: a.text + b.text) }
        return RopeNode(a, b)
    }

    func leaves(into list: inout [RopeNode]) {
        if let left, let right {
            left.leaves(into: &list)
            right.leaves(into: &list)
        } else {
            list.append(self)
        }
    }

    static func balanced(_ leaves: ArraySlice<RopeNode>) -> RopeNode? {
        guard leaves.count > 1 else { return leaves.first }
        let middle = leaves.startIndex + leaves.count / 2
        return RopeNode(balanced(leaves[..<middle])!, balanced(leaves[middle...])!)
    }
}

final class Marker {
    let name: String
    fileprivate(set) var offset: Int
    init(name: String, offset: Int) {
        self.name = name
        self.offset = offset
    }
}

protocol Command: AnyObject {
    func perform(on buffer: Buffer)
    func revert(on buffer: Buffer)
}

final class InsertCommand: Command {
    private let offset: Int, text: String
    init(offset: Int, text: String) {
        self.offset = offset
        self.text = text
    }
    func perform(on buffer: Buffer) { buffer.replace(offset..<offset, with: RopeNode(text: text)) }
    func revert(on buffer: Buffer) { buffer.replace(offset..<(offset + text.utf8.count), with: nil) }
}

final class DeleteCommand: Command {
    private let range: Range<Int>
    private var removed: RopeNode?
    init(range: Range<Int>) { self.range = range }
    func perform(on buffer: Buffer) { removed = buffer.replace(range, with: nil) }
    func revert(on buffer: Buffer) {
        buffer.replace(range.lowerBound..<range.lowerBound, with: removed)
        removed = nil
    }
}

final class Buffer {
    private var root: RopeNode?
    private struct WeakMarker { weak var marker: Marker? }
    private var markers: [WeakMarker] = []
    private(set) var rebuilds = 0

    var length: Int { root?.length ?? 0 }

    func mark(_ name: String, at offset: Int) -> Marker {
        let marker = Marker(name: name, offset: offset)
        markers.removeAll { $0.marker == nil }
        markers.append(WeakMarker(marker: marker))
        return marker
    }

    @discardableResult func replace(_ range: Range<Int>, with piece: RopeNode?) -> RopeNode? {
        let (head, rest) = root?.split(at: range.lowerBound) ?? (nil, nil)
        let (removed, tail) = rest?.split(at: range.count) ?? (nil, nil)
        root = RopeNode.join(RopeNode.join(head, piece), tail)
        let shift = (piece?.length ?? 0) - range.count
        for case let marker? in markers.map(\.marker) where marker.offset > range.lowerBound {
            marker.offset = max(range.lowerBound, marker.offset + shift)
        }
        if let root, root.height > 28 {
            var leaves: [RopeNode] = []
            root.leaves(into: &leaves)
            self.root = RopeNode.balanced(leaves[...])
            rebuilds += 1
        }
        return removed
    }

    var text: String {
        var out = ""
        root?.write(into: &out)
        return out
    }

    var markerCount: Int { markers.lazy.filter { $0.marker != nil }.count }
}

final class Editor {
    let buffer = Buffer()
    private var done: [Command] = []
    private var undone: [Command] = []
    private let undoLimit: Int
    private(set) var performed = 0

    init(undoLimit: Int) { self.undoLimit = undoLimit }

    func execute(_ command: Command) {
        command.perform(on: buffer)
        performed += 1
        undone.removeAll()
        done.append(command)
        if done.count > undoLimit { done.removeFirst() }
    }

    func undo() -> Bool {
        guard let command = done.popLast() else { return false }
        command.revert(on: buffer)
        undone.append(command)
        return true
    }

    func redo() -> Bool {
        guard let command = undone.popLast() else { return false }
        command.perform(on: buffer)
        done.append(command)
        return true
    }

    var depth: Int { done.count }
}

let editor = Editor(undoLimit: 200)
var seed: UInt64 = 1_234_567
func random(_ bound: Int) -> Int {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return bound == 0 ? 0 : Int((seed >> 33) % UInt64(bound))
}

var bookmarks: [Marker] = []
var undos = 0, redos = 0, digest: UInt64 = 5_381
for step in 0..<112_000 {
    let length = editor.buffer.length
    switch random(10) {
    case 0...4: editor.execute(InsertCommand(offset: random(length + 1), text: "edit \(step) by author \(random(9)); "))
    case 5 where length > 4_000, 6 where length > 4_000:
        let start = random(length - 160)
        editor.execute(DeleteCommand(range: start..<(start + 50 + random(110))))
    case 7: if editor.undo() { undos += 1 }
    case 8: if editor.redo() { redos += 1 }
    default:
        bookmarks.append(editor.buffer.mark("m\(step)", at: random(length + 1)))
        if bookmarks.count > 20 { bookmarks.removeFirst(10) }
    }
    if step % 400 == 399 {
        for byte in editor.buffer.text.utf8.prefix(4_000) { digest = digest &* 33 ^ UInt64(byte) }
    }
}
print("commands \(editor.performed), undone \(undos), redone \(redos), undo depth \(editor.depth)")
print("length \(editor.buffer.length), markers \(editor.buffer.markerCount), rebuilds \(editor.buffer.rebuilds), bookmark sum \(bookmarks.reduce(0) { $0 + $1.offset }), digest \(digest)")
