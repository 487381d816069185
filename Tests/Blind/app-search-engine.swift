import Foundation

final class Page {
    let id: Int
    let url: String
    let words: [String]
    init(id: Int, url: String, words: [String]) {
        self.id = id
        self.url = url
        self.words = words
    }
}

final class Posting {
    let page: Int
    var frequency: Int
    init(page: Int, frequency: Int) {
        self.page = page
        self.frequency = frequency
    }
}

final class PostingList {
    let term: String
    private(set) var postings: [Posting] = []
    init(term: String) { self.term = term }
    func add(page: Int) {
        if let last = postings.last, last.page == page {
            last.frequency += 1
        } else {
            postings.append(Posting(page: page, frequency: 1))
        }
    }
}

final class InvertedIndex {
    private var lists: [String: PostingList] = [:]
    private var pages: [Page] = []

    func add(_ page: Page) {
        pages.append(page)
        for word in page.words {
            let list: PostingList
            if let known = lists[word] {
                list = known
            } else {
                list = PostingList(term: word)
                lists[word] = list
            }
            list.add(page: page.id)
        }
    }

    func list(for term: String) -> PostingList? { lists[term] }
    func page(_ id: Int) -> Page? { id < pages.count ? pages[id] : nil }
    var pageCount: Int { pages.count }
    var termCount: Int { lists.count }
}

final class SearchResult {
    let terms: [String]
    let urls: [String]
    let createdAt: Int
    init(terms: [String], urls: [String], createdAt: Int) {
        self.terms = terms
        self.urls = urls
        self.createdAt = createdAt
    }
}

final class ResultCache {
    private var entries: [String: SearchResult] = [:]
    private let lifetime: Int
    private(set) var hits = 0
    init(lifetime: Int) { self.lifetime = lifetime }
    func find(_ key: String) -> SearchResult? {
        guard let result = entries[key] else { return nil }
        hits += 1
        return result
    }
    func store(_ key: String, _ result: SearchResult) { entries[key] = result }
    func expire(now: Int) {
        for (key, result) in entries where now - result.createdAt > lifetime { entries[key] = nil }
    }
}

final class SearchEngine {
    private let index: InvertedIndex
    private let cache = ResultCache(lifetime: 50)
    private var clock = 0
    init(index: InvertedIndex) { self.index = index }

    func search(_ terms: [String]) -> SearchResult {
        clock += 1
        cache.expire(now: clock)
        let key = terms.sorted().joined(separator: " ")
        if let cached = cache.find(key) { return cached }
        var scores: [Int: Double] = [:]
        for term in terms {
            guard let list = index.list(for: term) else { continue }
            let weight = log(Double(index.pageCount) / Double(list.postings.count + 1)) + 1
            for posting in list.postings { scores[posting.page, default: 0] += Double(posting.frequency) * weight }
        }
        let best = scores.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
        let result = SearchResult(terms: terms, urls: best.compactMap { index.page($0.key)?.url }, createdAt: clock)
        cache.store(key, result)
        return result
    }

    var cacheHits: Int { cache.hits }
}

final class Crawler {
    private var seed: UInt64
    private let syllables = ["ba", "re", "ki", "to", "mu", "sa", "ne", "lo"]
    init(seed: UInt64) { self.seed = seed }
    private func random(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1
        return Int((seed >> 35) % UInt64(n))
    }
    func word() -> String {
        let a = min(random(8), random(8)), b = min(random(8), random(8)), c = random(8)
        return syllables[a] + syllables[b] + (random(3) == 0 ? syllables[c] : "")
    }
    func crawl(_ id: Int) -> Page {
        Page(id: id, url: "https://site\(id % 40).test/\(id)", words: (0..<(8 + random(8))).map { _ in word() })
    }
}

let index = InvertedIndex()
let crawler = Crawler(seed: 99)

func buildIndex() {
    for id in 0..<500 {
        index.add(crawler.crawl(id))
        if id % 2 == 0 { usleep(3800) }
    }
}

func answerQueries() {
    let engine = SearchEngine(index: index)
    var found = 0
    var sites: Set<String> = []
    for query in 0..<420 {
        let result = engine.search([crawler.word(), crawler.word()])
        found += result.urls.count
        if query % 10 == 0, let first = result.urls.first { sites.insert(String(first.split(separator: "/")[1])) }
        usleep(2500)
    }
    print("found \(found), cache hits \(engine.cacheHits), sites \(sites.count)")
}

buildIndex()
print("pages \(index.pageCount), terms \(index.termCount)")
answerQueries()
