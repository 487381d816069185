import Foundation

// Full text index: documents are analysed by a task group, the results are
// collected into one index, which then answers ranked queries.

final class DocumentIndex: Sendable {
    let id: Int
    let title: String
    let length: Int
    let terms: [String: [Int]]

    init(id: Int, title: String, length: Int, terms: [String: [Int]]) {
        self.id = id
        self.title = title
        self.length = length
        self.terms = terms
    }
}

struct Analyser: Sendable {
    let stopWords: Set<String> = ["the", "a", "of", "and", "to", "in"]

    func analyse(id: Int, text: String) -> DocumentIndex {
        var terms: [String: [Int]] = [:]
        var position = 0
        for word in text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
            position += 1
            let term = stem(String(word))
            if !stopWords.contains(term) { terms[term, default: []].append(position) }
        }
        return DocumentIndex(id: id, title: "Document \(id)", length: position, terms: terms)
    }

    private func stem(_ word: String) -> String {
        for suffix in ["ing", "ed", "es", "s"] where word.hasSuffix(suffix) && word.utf8.count > suffix.utf8.count + 3 {
            return String(word.dropLast(suffix.utf8.count))
        }
        return word
    }

    func terms(of query: String) -> [String] { query.lowercased().split(separator: " ").map { stem(String($0)) } }
}

final class Posting: Sendable {
    let document: DocumentIndex
    let positions: [Int]
    init(document: DocumentIndex, positions: [Int]) {
        self.document = document
        self.positions = positions
    }
}

actor SearchIndex {
    private var postings: [String: [Posting]] = [:]
    private var documents: [DocumentIndex] = []
    private let analyser = Analyser()
    private var averageLength = 1.0

    func add(_ document: DocumentIndex) {
        documents.append(document)
        for (term, positions) in document.terms {
            postings[term, default: []].append(Posting(document: document, positions: positions))
        }
    }

    func seal() -> (documents: Int, terms: Int) {
        averageLength = Double(documents.reduce(0) { $0 + $1.length }) / Double(max(documents.count, 1))
        for key in postings.keys { postings[key]!.sort { $0.document.id < $1.document.id } }
        return (documents.count, postings.count)
    }

    /// BM25 ranking.
    func search(_ query: String, limit: Int) -> [(title: String, score: Double)] {
        var scores: [Int: (DocumentIndex, Double)] = [:]
        for term in analyser.terms(of: query) {
            guard let list = postings[term] else { continue }
            let absent = Double(documents.count - list.count) + 0.5, present = Double(list.count) + 0.5
            let idf = log(1 + absent / present)
            for posting in list {
                let frequency = Double(posting.positions.count)
                let relativeLength = Double(posting.document.length) / averageLength
            let norm = 1.2 * (0.25 + 0.75 * relativeLength)
                let score = idf * frequency * 2.2 / (frequency + norm)
                scores[posting.document.id, default: (posting.document, 0)].1 += score
            }
        }
        return scores.values.sorted { ($0.1, $1.0.id) > ($1.1, $0.0.id) }.prefix(limit).map { ($0.0.title, $0.1) }
    }

    func phrase(_ first: String, _ second: String) -> Int {
        guard let a = postings[first], let b = postings[second] else { return 0 }
        let followers = Dictionary(uniqueKeysWithValues: b.map { ($0.document.id, Set($0.positions)) })
        return a.reduce(0) { count, posting in
            guard let positions = followers[posting.document.id] else { return count }
            return count + (posting.positions.contains { positions.contains($0 + 1) } ? 1 : 0)
        }
    }
}

struct Library: Sendable {
    private static let vocabulary: [String] = {
        let roots = ["market", "engine", "garden", "signal", "river", "matter", "planet", "window", "travel", "record", "season", "bridge"]
        var words = ["the", "of", "and", "to", "in"]
        for prefix in ["", "re", "over", "under", "inter", "out", "mid", "post", "pre", "sub"] {
            for root in roots {
                for ending in ["", "s", "ing", "ed", "er", "ful", "ly", "ness"] { words.append(prefix + root + ending) }
            }
        }
        return words
    }()

    func text(of id: Int, words: Int) -> String {
        var seed = UInt64(id) &* 0x9E37_79B9_7F4A_7C15 | 1
        var text = ""
        for position in 0..<words {
            seed ^= seed << 13
            seed ^= seed >> 7
            seed ^= seed << 17
            let a = Int(seed % UInt64(Self.vocabulary.count))
            text += Self.vocabulary[seed >> 60 < 6 ? (a + id) % 12 : a]
            text += position % 11 == 10 ? ". " : " "
        }
        return text
    }
}

@main
struct DocIndexer {
    static func main() async {
        let library = Library()
        let analyser = Analyser()
        let index = SearchIndex()
        var words = 0

        await withTaskGroup(of: DocumentIndex.self) { group in
            let total = 1_400
            var next = 0
            while next < 6 {
                let id = next
                group.addTask { analyser.analyse(id: id, text: library.text(of: id, words: 150 + id % 90)) }
                next += 1
            }
            while let document = await group.next() {
                words += document.length
                await index.add(document)
                if next < total {
                    let id = next
                    group.addTask { analyser.analyse(id: id, text: library.text(of: id, words: 150 + id % 90)) }
                    next += 1
                }
            }
        }

        let size = await index.seal()
        print("indexed \(size.documents) documents, \(words) words, \(size.terms) terms")
        for query in ["market signals", "planet travelling season", "bridge", "windowful engine"] {
            let hits = await index.search(query, limit: 3)
            print("\(query): " + hits.map { "\($0.title) (\(String(format: "%.2f", $0.score)))" }.joined(separator: ", "))
        }

        let roots = ["market", "engine", "garden", "signal", "river", "planet"]
        var phrases = 0
        var best = 0.0
        for round in 0..<120 {
            for (a, b) in zip(roots, roots.dropFirst()) { phrases += await index.phrase(a, b) }
            let hits = await index.search("\(roots[round % 6]) \(roots[(round + 2) % 6]) recorder", limit: 10)
            best = max(best, hits.first?.score ?? 0)
        }
        print("phrases \(phrases), best score \(String(format: "%.3f", best))")
    }
}
