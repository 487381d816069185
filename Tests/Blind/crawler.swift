import Foundation

final class PageResult: Sendable {
    let url: String
    let body: [UInt8]
    let links: [String]
    init(url: String, body: [UInt8], links: [String]) {
        self.url = url
        self.body = body
        self.links = links
    }
}

actor Frontier {
    private var queue: [String] = []
    private var seen: Set<String> = []
    private var idle: CheckedContinuation<String, Never>?

    func push(_ url: String) {
        guard seen.insert(url).inserted else { return }
        if let waiting = idle {
            idle = nil
            waiting.resume(returning: url)
        } else {
            queue.append(url)
        }
    }

    func next() async -> String {
        if !queue.isEmpty { return queue.removeFirst() }
        return await withCheckedContinuation { idle = $0 }
    }
}

actor SearchIndex {
    private(set) var pages = 0
    private var terms: [String: Int] = [:]
    func index(_ url: String, size: Int) {
        pages += 1
        terms[String(url.suffix(2)), default: 0] += size
    }
}

struct Crawler: Sendable {
    static let frontier = Frontier()
    static let index = SearchIndex()

    func crawl() async throws {
        try await withThrowingTaskGroup(of: PageResult.self) { group in
            while !Task.isCancelled {
                let url = await Self.frontier.next()
                group.addTask {
                    let page = try await self.download(url)
                    await Self.index.index(page.url, size: page.body.count)
                    for link in page.links { await Self.frontier.push(link) }
                    return page
                }
            }
        }
    }

    private func download(_ url: String) async throws -> PageResult {
        try await Task.sleep(for: .milliseconds(3))
        let body = [UInt8](repeating: UInt8(url.utf8.count), count: 1500)
        return PageResult(url: url, body: body, links: [url.replacingOccurrences(of: "#top", with: "")])
    }
}

@main
struct CrawlerMain {
    static func main() async throws {
        let crawler = Crawler()
        let job = Task { try await crawler.crawl() }
        for round in 0..<5 {
            for n in 0..<40 {
                await Crawler.frontier.push("https://site\(round).example/page/\(n)")
            }
            while await Crawler.index.pages < (round + 1) * 40 {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await Task.sleep(for: .milliseconds(150))
        print("indexed", await Crawler.index.pages, job.isCancelled)
    }
}
