import Foundation
import Dispatch

final class Page {
    let url: String
    let links: [String]
    let words: Int
    init(url: String, links: [String], words: Int) {
        self.url = url
        self.links = links
        self.words = words
    }
}

final class FetchJob {
    let url: String
    let depth: Int
    let startedAt: Int
    var attempts = 0
    var buffer: [UInt8] = []

    init(url: String, depth: Int, startedAt: Int) {
        self.url = url
        self.depth = depth
        self.startedAt = startedAt
    }
}

enum FetchResult {
    case page(Page)
    case missing
    case slow
}

final class FakeWeb {
    private let hosts: Int
    init(hosts: Int) { self.hosts = hosts }

    func get(_ url: String) -> FetchResult {
        var hash: UInt64 = 1469598103934665603
        for byte in url.utf8 { hash = (hash ^ UInt64(byte)) &* 1099511628211 }
        if hash % 23 == 0 { return .missing }
        if hash % 9 == 4 { return .slow }
        let links = (0..<Int(2 + hash % 4)).map { i -> String in
            let next = (hash >> UInt64(8 + i * 3)) % UInt64(hosts * 400)
            return "http://site\(next % UInt64(hosts))/doc/\(next)"
        }
        return .page(Page(url: url, links: links, words: Int(hash % 900)))
    }
}

final class Frontier {
    private var queue: [(url: String, depth: Int)] = []
    private var head = 0
    private var known = Set<UInt64>()

    func offer(_ url: String, depth: Int) {
        guard queue.count - head < 400 else { return }
        var hash: UInt64 = 5381
        for byte in url.utf8 { hash = hash &* 33 &+ UInt64(byte) }
        if known.insert(hash).inserted { queue.append((url, depth)) }
    }

    func take() -> (url: String, depth: Int)? {
        guard head < queue.count else { return nil }
        defer { head += 1 }
        if head > 200 {
            queue.removeFirst(head)
            head = 0
        }
        return queue[head]
    }
}

final class Crawler {
    private let web: FakeWeb
    private let frontier = Frontier()
    private let queue = DispatchQueue(label: "crawler")
    private let pool = DispatchQueue(label: "fetch", attributes: .concurrent)
    private var active: [String: FetchJob] = [:]
    private var inFlight = 0
    private var clock = 0
    private(set) var words = 0
    private(set) var fetched = 0
    private(set) var lost = 0
    private(set) var givenUp = 0

    init(web: FakeWeb) { self.web = web }

    func seed(_ url: String) { queue.sync { frontier.offer(url, depth: 0) } }

    func pump() {
        queue.sync {
            clock += 1
            while inFlight < 8, let next = frontier.take() {
                let job = FetchJob(url: next.url, depth: next.depth, startedAt: clock)
                active[job.url] = job
                inFlight += 1
                start(job)
            }
        }
    }

    private func start(_ job: FetchJob) {
        job.attempts += 1
        job.buffer = [UInt8](repeating: 0, count: 512)
        pool.async { [web, queue] in
            usleep(1_500)
            let result = web.get(job.url)
            queue.async { self.finish(job, result) }
        }
    }

    private func finish(_ job: FetchJob, _ result: FetchResult) {
        switch result {
        case .page(let page):
            fetched += 1
            words += page.words
            if job.depth < 30 {
                for link in page.links { frontier.offer(link, depth: job.depth + 1) }
            }
            complete(job)
        case .missing:
            lost += 1
            complete(job)
        case .slow:
            if job.attempts < 2 {
                start(job)
                return
            }
            givenUp += 1
            inFlight -= 1
        }
    }

    private func complete(_ job: FetchJob) {
        active.removeValue(forKey: job.url)
        inFlight -= 1
    }

    var idle: Bool { queue.sync { inFlight == 0 } }

    func summary() -> String {
        queue.sync { "fetched \(fetched), missing \(lost), gave up \(givenUp), words \(words)" }
    }
}

func crawl(rounds: Int) {
    let crawler = Crawler(web: FakeWeb(hosts: 12))
    for n in 0..<12 { crawler.seed("http://site\(n)/index") }
    for round in 0..<rounds {
        crawler.pump()
        usleep(5_000)
        if round % 100 == 99 { print(crawler.summary()) }
    }
    while !crawler.idle { usleep(5_000) }
    print(crawler.summary())
}

crawl(rounds: 320)
