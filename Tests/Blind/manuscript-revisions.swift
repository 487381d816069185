// A collaborative manuscript keeps its complete history as a chain of
// revisions; at the end the text is rebuilt from the chain and the share of
// every author is computed.

enum Change {
    case insert(at: Int, text: String)
    case delete(at: Int, length: Int)
}

final class Revision {
    let number: Int
    let author: String
    let change: Change
    let parent: Revision?

    init(author: String, change: Change, parent: Revision?) {
        self.author = author
        self.change = change
        self.parent = parent
        number = (parent?.number ?? 0) + 1
    }
}

final class Manuscript {
    let title: String
    private(set) var head: Revision?
    private(set) var length = 0

    init(title: String) { self.title = title }

    func commit(author: String, _ change: Change) {
        switch change {
        case .insert(_, let text): length += text.utf8.count
        case .delete(_, let n): length -= n
        }
        head = Revision(author: author, change: change, parent: head)
    }

    func log() -> [Revision] {
        var entries: [Revision] = []
        var cursor = head
        while let revision = cursor {
            entries.append(revision)
            cursor = revision.parent
        }
        return entries.reversed()
    }

    func text(at number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for revision in log() where revision.number <= number {
            switch revision.change {
            case let .insert(at, text):
                bytes.insert(contentsOf: Array(text.utf8), at: at)
            case let .delete(at, n):
                bytes.removeSubrange(at..<(at + n))
            }
        }
        return bytes
    }
}

struct Dice {
    var state: UInt64
    mutating func roll(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(max(n, 1)))
    }
}

func fingerprint(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 }
}

let novel = Manuscript(title: "The Salt Road")
let authors = ["Okafor", "Brandt", "Ilves"]
let words = ["caravan ", "dust ", "and the ", "well ", "at noon ", "a letter ", "turned ", "north "]
var dice = Dice(state: 3)

for _ in 0..<1500 {
    let author = authors[dice.roll(3)]
    if novel.length > 60 && dice.roll(5) == 0 {
        let n = 1 + dice.roll(12)
        novel.commit(author: author, .delete(at: dice.roll(novel.length - n), length: n))
    } else {
        novel.commit(author: author, .insert(at: dice.roll(novel.length + 1), text: words[dice.roll(words.count)]))
    }
}

print("\(novel.title): revision \(novel.head?.number ?? 0), \(novel.length) bytes")
for number in [100, 500, 1000, 1500] {
    let text = novel.text(at: number)
    print("r\(number): \(text.count) bytes, fingerprint \(fingerprint(text))")
}

var share: [String: (added: Int, removed: Int)] = [:]
for revision in novel.log() {
    switch revision.change {
    case .insert(_, let text): share[revision.author, default: (0, 0)].added += text.utf8.count
    case .delete(_, let n): share[revision.author, default: (0, 0)].removed += n
    }
}
for author in authors {
    let s = share[author]!
    print("\(author): +\(s.added) -\(s.removed)")
}
