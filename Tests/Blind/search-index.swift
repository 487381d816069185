import Foundation

struct Article {
    let slug: String
    let revision: Int
    let body: String
}

final class StoredDocument {
    let id: Int
    let article: Article
    let length: Int
    private(set) var terms: [String: Int] = [:]

    init(id: Int, article: Article) {
        self.id = id
        self.article = article
        let words = Analyzer.words(article.body)
        length = words.count
        for word in words { terms[word, default: 0] += 1 }
    }

    func snippet(around term: String) -> Substring {
        guard let range = article.body.range(of: term) else { return "" }
        let end = article.body.index(range.lowerBound, offsetBy: 24, limitedBy: article.body.endIndex)
        return article.body[range.lowerBound..<(end ?? article.body.endIndex)]
    }
}

enum Analyzer {
    static let stopWords: Set<String> = ["the", "a", "of", "and", "to", "in"]
    static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { !stopWords.contains($0) }
    }
}

final class Posting {
    let document: StoredDocument
    let frequency: Int
    init(document: StoredDocument, frequency: Int) {
        self.document = document
        self.frequency = frequency
    }
}

final class PostingList {
    private(set) var postings: [Posting] = []
    func add(_ posting: Posting) { postings.append(posting) }
    func remove(documentID: Int) { postings.removeAll { $0.document.id == documentID } }
}

final class TrieNode {
    let letter: Character?
    private unowned let root: TrieNode?
    private unowned var parent: TrieNode?
    private var children: [Character: TrieNode] = [:]
    private(set) var list: PostingList?

    init(letter: Character?, parent: TrieNode?, root: TrieNode?) {
        self.letter = letter
        self.parent = parent
        self.root = root
    }

    func child(for letter: Character) -> TrieNode {
        if let child = children[letter] { return child }
        let child = TrieNode(letter: letter, parent: self, root: root ?? self)
        children[letter] = child
        return child
    }

    func existing(_ letter: Character) -> TrieNode? { children[letter] }

    func listCreatingIfNeeded() -> PostingList {
        if let list { return list }
        let fresh = PostingList()
        list = fresh
        return fresh
    }

    var term: String {
        var letters: [Character] = []
        var node: TrieNode? = self
        while let current = node, let letter = current.letter {
            letters.append(letter)
            node = current.parent
        }
        return String(letters.reversed())
    }

    func visitTerms(_ body: (TrieNode, PostingList) -> Void) {
        if let list { body(self, list) }
        for key in children.keys.sorted() { children[key]!.visitTerms(body) }
    }

    var belongsToRoot: Bool { root != nil }
}

struct Hit {
    let document: StoredDocument
    let score: Int
}

final class QueryResult {
    let query: String
    let hits: [Hit]
    init(query: String, hits: [Hit]) {
        self.query = query
        self.hits = hits
    }
}

final class QueryCache {
    private var results: [String: QueryResult] = [:]
    private var recency: [String] = []
    private(set) var reused = 0

    func find(_ query: String) -> QueryResult? {
        guard let result = results[query] else { return nil }
        reused += 1
        recency.removeAll { $0 == query }
        recency.append(query)
        return result
    }

    func insert(_ result: QueryResult) {
        results[result.query] = result
        recency.append(result.query)
        if recency.count > 24 { results[recency.removeFirst()] = nil }
    }

    func invalidate() {
        results.removeAll()
        recency.removeAll()
    }
}

final class SearchIndex {
    private let trie = TrieNode(letter: nil, parent: nil, root: nil)
    private var documents: [String: StoredDocument] = [:]
    private let cache = QueryCache()
    private var listeners: [(StoredDocument) -> Void] = []
    private var nextID = 0
    private var replaced = 0
    private var newWords = 0

    init() {
        listeners.append { self.newWords += $0.terms.count }
        listeners.append { _ in self.cache.invalidate() }
    }

    private func list(for term: String, creating: Bool) -> PostingList? {
        var node = trie
        for letter in term {
            if creating {
                node = node.child(for: letter)
            } else {
                guard let next = node.existing(letter) else { return nil }
                node = next
            }
        }
        return creating ? node.listCreatingIfNeeded() : node.list
    }

    func put(_ article: Article) {
        if let old = documents[article.slug] {
            for term in old.terms.keys { list(for: term, creating: false)?.remove(documentID: old.id) }
            replaced += 1
        }
        let document = StoredDocument(id: nextID, article: article)
        nextID += 1
        documents[article.slug] = document
        for (term, frequency) in document.terms {
            list(for: term, creating: true)!.add(Posting(document: document, frequency: frequency))
        }
        for listener in listeners { listener(document) }
    }

    func search(_ query: String) -> QueryResult {
        if let cached = cache.find(query) { return cached }
        var scores: [Int: (StoredDocument, Int)] = [:]
        for term in Analyzer.words(query) {
            for posting in list(for: term, creating: false)?.postings ?? [] {
                let weight = posting.frequency * 1_000 / posting.document.length
                scores[posting.document.id] = (posting.document, (scores[posting.document.id]?.1 ?? 0) + weight)
            }
        }
        let ranked = scores.values.sorted { ($0.1, $1.0.id) > ($1.1, $0.0.id) }.prefix(8)
        let result = QueryResult(query: query, hits: ranked.map { Hit(document: $0.0, score: $0.1) })
        cache.insert(result)
        return result
    }

    func verify() -> String {
        var terms = 0, postings = 0, snippets = 0, mismatches = 0
        trie.visitTerms { node, list in
            terms += node.belongsToRoot ? 1 : 0
            let term = node.term
            for posting in list.postings {
                postings += 1
                if posting.document.terms[term] != posting.frequency { mismatches += 1 }
                if documents[posting.document.article.slug] !== posting.document { mismatches += 1 }
                snippets += posting.document.snippet(around: term).utf8.count
            }
        }
        let revisions = documents.values.reduce(0) { $0 + $1.article.revision }
        return "documents=\(documents.count) revisions=\(revisions) terms=\(terms) postings=\(postings) mismatches=\(mismatches) "
            + "snippets=\(snippets) replaced=\(replaced) words=\(newWords) reused=\(cache.reused)"
    }
}

let vocabulary = ["swift", "server", "memory", "index", "queue", "thread", "packet", "router", "parser", "token",
                  "cache", "shard", "ledger", "cursor", "schema", "vector", "kernel", "socket", "buffer", "stream"]

func write(_ number: Int, revision: Int) -> Article {
    let words = (0..<24).map { vocabulary[(number * 7 + $0 * (3 + revision) + number / 5) % vocabulary.count] }
    return Article(slug: "article-\(number)", revision: revision,
                   body: "the tale \(number) of " + words.joined(separator: " ") + " and draft\(revision)")
}

let index = SearchIndex()
var ranking = 0
var published = 0
for round in 0..<60 {
    for _ in 0..<6 {
        index.put(write(published, revision: 1))
        published += 1
    }
    if round >= 2 {
        for back in stride(from: 3, through: 9, by: 3) { index.put(write(published - back - 4, revision: 2 + round % 3)) }
    }
    for pass in 0..<12 {
        let query = "\(vocabulary[(round + pass % 4) % 20]) and \(vocabulary[(round * 3 + pass % 4) % 20])"
        for hit in index.search(query).hits { ranking = (ranking &* 13 &+ hit.score &+ hit.document.id) % 1_000_003 }
    }
    usleep(8_000)
}
print("published=\(published) ranking=\(ranking)")
print(index.verify())
