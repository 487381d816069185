import Foundation

final class Article {
    let url: String
    let title: String
    let day: Int
    let words: Int
    init(url: String, title: String, day: Int, words: Int) {
        self.url = url
        self.title = title
        self.day = day
        self.words = words
    }
}

final class Feed {
    let host: String
    private let rate: Int
    private var serial = 0
    private var latest: [(url: String, title: String, words: Int)] = []

    init(host: String, rate: Int) {
        self.host = host
        self.rate = rate
    }

    func poll(hour: Int) -> [(url: String, title: String, words: Int)] {
        if hour % rate == 0 {
            serial += 1
            latest.insert(("https://\(host)/\(serial)", "\(host) story \(serial)", 100 + serial * 53 % 900), at: 0)
            if latest.count > 5 { latest.removeLast() }
        }
        return latest
    }
}

final class Digest {
    let day: Int
    private(set) var articles: [Article] = []
    init(day: Int) { self.day = day }
    func add(_ article: Article) { articles.append(article) }

    func render() -> String {
        let top = articles.sorted { $0.words > $1.words }.prefix(3)
        return "day \(day): \(articles.count) new, " + top.map { $0.title }.joined(separator: "; ")
    }
}

final class SeenEntry {
    let article: Article
    var lastSeen: Int
    init(article: Article, hour: Int) {
        self.article = article
        lastSeen = hour
    }
}

final class Deduplicator {
    private var seen: [String: SeenEntry] = [:]
    private var sections: [String: [SeenEntry]] = [:]
    private(set) var duplicates = 0

    func admit(url: String, title: String, words: Int, hour: Int, section: String) -> Article? {
        if let entry = seen[url] {
            entry.lastSeen = hour
            duplicates += 1
            return nil
        }
        let article = Article(url: url, title: title, day: hour / 24, words: words)
        let entry = SeenEntry(article: article, hour: hour)
        seen[url] = entry
        sections[section, default: []].append(entry)
        return article
    }

    func expire(before hour: Int) {
        for (url, entry) in seen where entry.lastSeen < hour {
            seen[url] = nil
        }
    }

    func newest(in section: String) -> Article? { sections[section]?.last?.article }
    var remembered: Int { seen.count }
}

protocol DigestReader: AnyObject {
    func digestReady(_ digest: Digest)
}

final class Mailer: DigestReader {
    private(set) var sent = 0
    private(set) var bytes = 0
    func digestReady(_ digest: Digest) {
        sent += 1
        bytes += digest.render().utf8.count
    }
}

final class Front: DigestReader {
    private var recent: [Digest] = []
    func digestReady(_ digest: Digest) {
        recent.append(digest)
        if recent.count > 2 { recent.removeFirst() }
    }
    var headlines: [String] { recent.map { $0.render() } }
}

final class Aggregator {
    private let feeds: [Feed]
    private let deduplicator = Deduplicator()
    private var digest = Digest(day: 0)
    private var readers: [DigestReader] = []

    init(feeds: [Feed]) { self.feeds = feeds }

    func attach(_ reader: DigestReader) { readers.append(reader) }

    func run(hour: Int) {
        if hour / 24 != digest.day {
            readers.forEach { $0.digestReady(digest) }
            digest = Digest(day: hour / 24)
            deduplicator.expire(before: hour - 24)
        }
        for feed in feeds {
            for item in feed.poll(hour: hour) {
                if let article = deduplicator.admit(url: item.url, title: item.title, words: item.words,
                                                    hour: hour, section: feed.host) {
                    digest.add(article)
                }
            }
        }
    }

    func banner() -> String {
        feeds.prefix(3).compactMap { deduplicator.newest(in: $0.host)?.title }.joined(separator: " | ")
    }

    var state: String { "remembered \(deduplicator.remembered), duplicates \(deduplicator.duplicates)" }
}

func publish(days: Int) {
    let feeds = (0..<9).map { Feed(host: "paper\($0).example", rate: 2 + $0 % 4) }
    let aggregator = Aggregator(feeds: feeds)
    let mailer = Mailer()
    let front = Front()
    aggregator.attach(mailer)
    aggregator.attach(front)
    for hour in 0..<(days * 24) {
        aggregator.run(hour: hour)
        usleep(5_000)
        if hour % 96 == 95 { print(aggregator.banner()) }
    }
    print(aggregator.state, "mails \(mailer.sent), bytes \(mailer.bytes)")
    front.headlines.forEach { print($0) }
}

publish(days: 16)
