// Builds a positional index over generated letters of a correspondence and answers queries.

struct Xorshift {
    var state: UInt32

    mutating func next(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        return Int(state % UInt32(bound))
    }
}

final class Letter {
    let id: Int
    let writer: String
    let words: [String]

    init(id: Int, writer: String, words: [String]) {
        self.id = id
        self.writer = writer
        self.words = words
    }

    func snippet(around position: Int) -> String {
        let low = max(0, position - 2)
        let high = min(words.count, position + 3)
        return words[low..<high].joined(separator: " ")
    }
}

final class Occurrences {
    private(set) var positions: [Int] = []

    func add(_ position: Int) {
        positions.append(position)
    }
}

final class PositionalIndex<Key: Hashable, Document> where Document: AnyObject {
    private var table: [Key: [Int: Occurrences]] = [:]
    private(set) var documents: [Int: Document] = [:]

    func insert(_ document: Document, id: Int, keys: [Key]) {
        documents[id] = document
        for (position, key) in keys.enumerated() {
            if let known = table[key]?[id] {
                known.add(position)
            } else {
                let fresh = Occurrences()
                fresh.add(position)
                table[key, default: [:]][id] = fresh
            }
        }
    }

    func lookup(_ key: Key) -> [(document: Document, positions: [Int])] {
        guard let hits = table[key] else { return [] }
        return hits.sorted { $0.key < $1.key }.compactMap { id, occurrences in
            documents[id].map { ($0, occurrences.positions) }
        }
    }

    func adjacent(_ first: Key, _ second: Key) -> [(id: Int, position: Int)] {
        guard let left = table[first], let right = table[second] else { return [] }
        var result: [(id: Int, position: Int)] = []
        for id in left.keys.sorted() {
            guard let a = left[id], let b = right[id] else { continue }
            let starts = Set(b.positions)
            for position in a.positions where starts.contains(position + 1) {
                result.append((id, position))
            }
        }
        return result
    }

    var keyCount: Int { table.count }
}

let vocabulary = """
    dear friend the winter was long and the river froze my sister sends her love we read your book \
    twice and laughed about the doctor please write soon the garden waits for spring father is well \
    again and walks to the mill each day the new bridge is finished they say the king will come
    """.split(separator: " ").map(String.init)

var random = Xorshift(state: 9001)
let writers = ["Anna", "Bernhard", "Clara", "Dietrich"]
let index = PositionalIndex<String, Letter>()

for id in 0..<160 {
    let length = 30 + random.next(40)
    var words: [String] = []
    while words.count < length {
        let start = random.next(vocabulary.count - 4)
        words.append(contentsOf: vocabulary[start..<(start + 2 + random.next(3))])
    }
    index.insert(Letter(id: id, writer: writers[random.next(writers.count)], words: words), id: id, keys: words)
}
print("letters \(index.documents.count), words \(index.keyCount)")

for query in ["river", "doctor", "mill", "king", "emperor"] {
    let hits = index.lookup(query)
    let count = hits.reduce(0) { $0 + $1.positions.count }
    var byWriter: [String: Int] = [:]
    for hit in hits {
        byWriter[hit.document.writer, default: 0] += 1
    }
    let people = byWriter.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    print("'\(query)': \(count) times in \(hits.count) letters (\(people))")
}

for (first, second) in [("new", "bridge"), ("my", "sister"), ("garden", "king")] {
    let hits = index.adjacent(first, second)
    if let hit = hits.first, let letter = index.documents[hit.id] {
        print("'\(first) \(second)': \(hits.count), first in letter \(letter.id): ...\(letter.snippet(around: hit.position))...")
    } else {
        print("'\(first) \(second)': none")
    }
}
