import Foundation

final class Article {
    let number: Int
    let title: String
    let words: [String]
    init(number: Int, title: String, words: [String]) {
        self.number = number
        self.title = title
        self.words = words
    }
}

final class Posting {
    let article: Int
    private(set) var positions: [Int] = []
    init(article: Int) { self.article = article }
    func add(_ p: Int) { positions.append(p) }
}

final class PostingList {
    private(set) var postings: [Posting] = []
    func add(article: Int, position: Int) {
        if let last = postings.last, last.article == article {
            last.add(position)
            return
        }
        let p = Posting(article: article)
        p.add(position)
        postings.append(p)
    }
}

final class TrieNode {
    var children: [Character: TrieNode] = [:]
    var list: PostingList?
}

final class Index {
    private let root = TrieNode()
    private var articles: [Article] = []
    private(set) var nodes = 1

    func add(_ a: Article) {
        articles.append(a)
        for (i, w) in a.words.enumerated() {
            let n = node(for: w)
            let list = n.list ?? PostingList()
            n.list = list
            list.add(article: a.number, position: i)
        }
    }

    private func node(for word: String) -> TrieNode {
        var n = root
        for ch in word {
            if let next = n.children[ch] {
                n = next
            } else {
                let next = TrieNode()
                nodes += 1
                n.children[ch] = next
                n = next
            }
        }
        return n
    }

    private func locate(_ prefix: String) -> TrieNode? {
        var n = root
        for ch in prefix {
            guard let next = n.children[ch] else { return nil }
            n = next
        }
        return n
    }

    func postings(_ word: String) -> [Posting] { locate(word)?.list?.postings ?? [] }

    func completions(_ prefix: String, limit: Int) -> [String] {
        guard let start = locate(prefix) else { return [] }
        var result: [String] = []
        var stack: [(TrieNode, String)] = [(start, prefix)]
        while let (n, text) = stack.popLast(), result.count < limit {
            if n.list != nil { result.append(text) }
            for (ch, next) in n.children.sorted(by: { $0.key > $1.key }) { stack.append((next, text + String(ch))) }
        }
        return result
    }

    func article(_ number: Int) -> Article? {
        var lo = 0, hi = articles.count - 1
        while lo <= hi {
            let m = (lo + hi) / 2
            if articles[m].number == number { return articles[m] }
            if articles[m].number < number { lo = m + 1 } else { hi = m - 1 }
        }
        return nil
    }

    var size: Int { articles.count }
}

final class Query {
    let terms: [String]
    init(_ terms: [String]) { self.terms = terms }

    func run(on index: Index) -> [Hit] {
        var scores: [Int: Int] = [:]
        for t in terms {
            let found = index.postings(t)
            for p in found { scores[p.article, default: 0] += 1000 * p.positions.count / (found.count + 1) }
        }
        let best = scores.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
        return best.compactMap { s in index.article(s.key).map { Hit(article: $0, score: s.value) } }
    }
}

final class Hit {
    let article: Article
    let score: Int
    init(article: Article, score: Int) {
        self.article = article
        self.score = score
    }
}

final class Author {
    private let stems = ["net", "work", "light", "house", "sun", "flow", "er", "stone", "wind", "mill", "rain", "bow"]
    private var seed = 17
    private func pick(_ n: Int) -> Int {
        seed = (seed &* 69069 &+ 1) & 0x7fffffff
        return (seed >> 9) % n
    }
    func word() -> String {
        var w = stems[pick(12)] + stems[pick(12)]
        if pick(3) == 0 { w += stems[pick(12)] }
        return w
    }
    func write(_ number: Int) -> Article {
        Article(number: number * 3, title: "\(word()) \(word())", words: (0..<(20 + pick(30))).map { _ in word() })
    }
}

final class SearchService {
    private let index = Index()
    private let author = Author()
    private var queries = 0
    private var hits = 0
    private var topScore = 0
    private var topTitle = ""

    func build(_ n: Int) {
        for i in 1...n {
            index.add(author.write(i))
            if i % 3 == 0 { usleep(5_000) }
        }
    }

    func serve(_ n: Int) {
        for _ in 0..<n {
            let w = author.word()
            let other = index.completions(String(w.prefix(4)), limit: 3).last ?? w
            for h in Query([w, other]).run(on: index) {
                hits += 1
                if h.score > topScore {
                    topScore = h.score
                    topTitle = h.article.title
                }
            }
            queries += 1
            usleep(2_000)
        }
    }

    func report() {
        print("articles \(index.size) nodes \(index.nodes) queries \(queries) hits \(hits) best \(topTitle) (\(topScore))")
    }
}

let service = SearchService()
service.build(500)
service.serve(450)
service.report()
