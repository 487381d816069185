import Foundation

final class Paragraph {
    let text: String
    let style: String
    init(text: String, style: String) {
        self.text = text
        self.style = style
    }
    var wordCount: Int { text.split(separator: " ").count }
}

final class Revision {
    let number: Int
    let paragraphs: [Paragraph]
    init(number: Int, paragraphs: [Paragraph]) {
        self.number = number
        self.paragraphs = paragraphs
    }
}

final class NamedVersion {
    let label: String
    let revision: Revision
    init(label: String, revision: Revision) {
        self.label = label
        self.revision = revision
    }
}

final class Document {
    private(set) var current: Revision
    private var past: [Revision] = []
    private var future: [Revision] = []
    private(set) var versions: [NamedVersion] = []
    private var counter = 0
    let maxHistory = 40

    init() { current = Revision(number: 0, paragraphs: []) }

    func edit(_ change: (inout [Paragraph]) -> Void) {
        var list = current.paragraphs
        change(&list)
        counter += 1
        past.append(current)
        if past.count > maxHistory { past.removeFirst(past.count - maxHistory) }
        future.removeAll(keepingCapacity: true)
        current = Revision(number: counter, paragraphs: list)
    }

    func undo() {
        guard let previous = past.popLast() else { return }
        future.append(current)
        current = previous
    }

    func redo() {
        guard let next = future.popLast() else { return }
        past.append(current)
        current = next
    }

    func saveVersion(_ label: String) {
        versions.append(NamedVersion(label: label, revision: current))
    }

    func words(in revision: Revision) -> Int {
        revision.paragraphs.reduce(0) { $0 + $1.wordCount }
    }
}

final class Typist {
    private var seed: UInt64 = 99
    private let vocabulary = ["harbour", "night", "lamp", "river", "stone", "paper", "winter", "road"]

    func next(_ bound: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 33) % UInt64(bound))
    }

    func sentence() -> String {
        (0..<(6 + next(12))).map { _ in vocabulary[next(vocabulary.count)] }.joined(separator: " ")
    }
}

let document = Document()
let typist = Typist()
for step in 0..<900 {
    document.edit { list in
        let fresh = Paragraph(text: typist.sentence(), style: step % 7 == 0 ? "heading" : "body")
        if list.count < 60 {
            list.append(fresh)
        } else {
            list[typist.next(list.count)] = fresh
        }
        if step % 90 == 89 { list.removeLast(5) }
    }
    if step % 11 == 10 { document.undo() }
    if step % 33 == 32 { document.redo() }
    if step % 120 == 119 { document.saveVersion("draft \(step / 120 + 1)") }
    usleep(1200)
}
for version in document.versions {
    print("\(version.label): revision \(version.revision.number), \(document.words(in: version.revision)) words")
}
print("current: \(document.words(in: document.current)) words")
