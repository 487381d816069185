import Foundation

enum Edit {
    case insert(at: Int, text: String)
    case remove(at: Int, text: String)
}

final class EditRecord {
    let revision: Int
    let edit: Edit
    let author: String
    let previous: EditRecord?

    init(revision: Int, edit: Edit, author: String, previous: EditRecord?) {
        self.revision = revision
        self.edit = edit
        self.author = author
        self.previous = previous
    }
}

final class Manuscript {
    private var body: [Character] = []
    private var newest: EditRecord?
    private(set) var revision = 0

    func insert(_ text: String, at index: Int, author: String) {
        let position = min(index, body.count)
        body.insert(contentsOf: text, at: position)
        push(.insert(at: position, text: text), author: author)
    }

    func remove(at index: Int, length: Int, author: String) {
        guard index < body.count else { return }
        let end = min(index + length, body.count)
        let cut = String(body[index..<end])
        body.removeSubrange(index..<end)
        push(.remove(at: index, text: cut), author: author)
    }

    private func push(_ edit: Edit, author: String) {
        revision += 1
        newest = EditRecord(revision: revision, edit: edit, author: author, previous: newest)
    }

    /// Steps back one revision; false at the blank page.
    func undo() -> String? {
        guard let record = newest else { return nil }
        switch record.edit {
        case .insert(let position, let text):
            body.removeSubrange(position..<(position + text.count))
        case .remove(let position, let text):
            body.insert(contentsOf: text, at: position)
        }
        newest = record.previous
        return record.author
    }

    var length: Int { body.count }
    var checksum: UInt32 {
        body.reduce(UInt32(17)) { ($0 &* 31) &+ $1.unicodeScalars.first!.value }
    }
}

let phrases = ["the harbour lay still ", "and nobody spoke ", "until the bell ", "rang twice ", "over the salt roofs "]
let authors = ["novelist", "editor", "translator"]
let manuscript = Manuscript()
var midwayChecksum: UInt32 = 0

for step in 0..<900 {
    let author = authors[step % authors.count]
    if step % 4 == 3 {
        manuscript.remove(at: (step * 13) % max(manuscript.length, 1), length: 9, author: author)
    } else {
        manuscript.insert(phrases[step % phrases.count], at: (step * 29) % (manuscript.length + 1), author: author)
    }
    if manuscript.revision == 450 { midwayChecksum = manuscript.checksum }
}

print("revision \(manuscript.revision), \(manuscript.length) characters, checksum \(manuscript.checksum)")

var undoneBy: [String: Int] = [:]
var steps = 0
let total = manuscript.revision
while let author = manuscript.undo() {
    undoneBy[author, default: 0] += 1
    steps += 1
    if total - steps == 450 {
        print("midway state restored: \(manuscript.checksum == midwayChecksum)")
    }
}
for author in authors {
    print("\(author): \(undoneBy[author] ?? 0) edits")
}
print("blank page after \(steps) steps: \(manuscript.length == 0)")
