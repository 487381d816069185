import Foundation

struct Article {
    let id: Int
    let words: [String]
}

final class ResultPage {
    let articleIDs: [Int]
    let snippet: String

    init(articleIDs: [Int], snippet: String) {
        self.articleIDs = articleIDs
        self.snippet = snippet
    }
}

struct SearchRequest {
    let reader: String
    let term: String
    let issuedAt: Int
}

actor SearchDesk {
    private let articles: [Article]
    private var pages: [String: ResultPage] = [:]
    private(set) var served = 0
    private(set) var reused = 0

    init(articles: [Article]) {
        self.articles = articles
    }

    private func cacheKey(_ request: SearchRequest) -> String {
        "\(request.term)#\(request.reader)@\(request.issuedAt)"
    }

    func search(_ request: SearchRequest) -> Int {
        served += 1
        let key = cacheKey(request)
        if let page = pages[key] {
            reused += 1
            return page.articleIDs.count
        }
        let hits = articles.filter { $0.words.contains(request.term) }
        let page = ResultPage(articleIDs: hits.map(\.id), snippet: hits.first?.words.joined(separator: " ") ?? "")
        pages[key] = page
        return page.articleIDs.count
    }

    func statistics() -> (Int, Int) {
        (served, reused)
    }
}

func makeArticles() -> [Article] {
    let stems = ["river", "engine", "harvest", "signal", "marble", "cotton", "beacon", "ledger"]
    return (0..<60).map { id in
        Article(id: id, words: (0..<6).map { stems[(id * 3 + $0 * (1 + id % 3)) % stems.count] })
    }
}

@main
struct DeskService {
    static let desk = SearchDesk(articles: makeArticles())

    static func main() async throws {
        let terms = ["river", "signal", "ledger", "cotton"]
        var hits = 0
        var clock = 1_000
        for round in 0..<75 {
            for reader in 0..<8 {
                clock += 3
                let request = SearchRequest(reader: "reader\(reader)", term: terms[(round + reader) % terms.count], issuedAt: clock)
                hits += await desk.search(request)
                if reader == 0 {
                    hits += await desk.search(request)
                }
            }
            try await Task.sleep(nanoseconds: 7_000_000)
        }
        let (served, reused) = await desk.statistics()
        print("searchdesk: served \(served), reused \(reused), hits \(hits)")
    }
}
