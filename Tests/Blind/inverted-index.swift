import Foundation

final class Article: Sendable {
    let id: Int
    let terms: [String]
    init(id: Int, terms: [String]) {
        self.id = id
        self.terms = terms
    }
}

final class PostingList {
    private(set) var ids: [Int] = []
    var dead = 0
    func add(_ id: Int) { ids.append(id) }
    func sweep(_ removed: Set<Int>) {
        ids.removeAll { removed.contains($0) }
        dead = 0
    }
}

final class QueryResult: Sendable {
    let hits: [Int]
    init(hits: [Int]) { self.hits = hits }
}

actor SearchIndex {
    private var articles: [Int: Article] = [:]
    private var postings: [String: PostingList] = [:]
    private var tombstones: Set<Int> = []
    private(set) var compactions = 0

    func insert(_ article: Article) {
        articles[article.id] = article
        for term in article.terms {
            if let list = postings[term] {
                list.add(article.id)
            } else {
                let list = PostingList()
                list.add(article.id)
                postings[term] = list
            }
        }
    }

    func withdraw(_ id: Int) {
        guard let article = articles[id] else { return }
        tombstones.insert(id)
        for term in article.terms { postings[term]?.dead += 1 }
        if tombstones.count >= 150 { compact() }
    }

    private func compact() {
        compactions += 1
        for id in tombstones { articles[id] = nil }
        for (term, list) in postings where list.dead > 0 {
            list.sweep(tombstones)
            if list.ids.isEmpty { postings[term] = nil }
        }
        tombstones.removeAll()
    }

    func search(_ terms: [String]) -> QueryResult {
        let lists = terms.compactMap { postings[$0]?.ids }
        guard let first = lists.first else { return QueryResult(hits: []) }
        let common = lists.dropFirst().reduce(Set(first)) { $0.intersection($1) }
        return QueryResult(hits: common.subtracting(tombstones).sorted())
    }

    func statistics() -> (articles: Int, terms: Int, pending: Int) {
        (articles.count - tombstones.count, postings.count, tombstones.count)
    }
}

struct Crawler: Sendable {
    let section: Int
    static let words = ["coast", "budget", "election", "storm", "harvest", "museum", "railway", "energy"]

    func fetch(_ n: Int) -> Article {
        let id = section * 10_000 + n
        var terms = (0..<4).map { Self.words[(n * 3 + $0 * (section + 1)) % Self.words.count] }
        terms.append("place\(n % 120)")
        terms.append("story\(id)")
        return Article(id: id, terms: Array(Set(terms)))
    }
}

let index = SearchIndex()

@main
struct NewsSearch {
    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            for section in 0..<3 {
                group.addTask {
                    let crawler = Crawler(section: section)
                    for n in 0..<500 {
                        await index.insert(crawler.fetch(n))
                        if n % 5 < 2, n >= 10 { await index.withdraw(section * 10_000 + n - 10) }
                        if n % 3 == 0 { try? await Task.sleep(nanoseconds: 3_000_000) }
                    }
                }
            }
            group.addTask {
                for n in 0..<100 {
                    _ = await index.search([Crawler.words[n % 8], Crawler.words[(n + 3) % 8]])
                    try? await Task.sleep(nanoseconds: 5_000_000)
                }
            }
        }
        let result = await index.search(["storm", "place17"])
        let numbers = await index.statistics()
        print("articles \(numbers.articles), terms \(numbers.terms), withdrawn pending \(numbers.pending)")
        print("storm near place17: \(result.hits.count)")
    }
}
