import Foundation

struct Comment: Sendable {
    let article: Int
    let author: String
    let words: Int
}

final class CommentStore: @unchecked Sendable {
    static let shared = CommentStore()

    private let lock = NSLock()
    private var comments: [Int: [Comment]] = [:]
    private var listeners: [Int: [AsyncStream<Comment>.Continuation]] = [:]
    private var subscriptions = 0

    func live(_ article: Int) -> AsyncStream<Comment> {
        let (stream, continuation) = AsyncStream.makeStream(of: Comment.self)
        lock.withLock {
            subscriptions += 1
            listeners[article, default: []].append(continuation)
            for comment in comments[article, default: []].suffix(5) { continuation.yield(comment) }
        }
        return stream
    }

    func add(_ comment: Comment) {
        lock.withLock {
            comments[comment.article, default: []].append(comment)
            for listener in listeners[comment.article, default: []] { listener.yield(comment) }
        }
    }

    var opened: Int { lock.withLock { subscriptions } }
    var count: Int { lock.withLock { comments.values.reduce(0) { $0 + $1.count } } }
}

final class ArticleModel: @unchecked Sendable {
    let article: Int
    private let lock = NSLock()
    private var shown: [Comment] = []

    init(article: Int) {
        self.article = article
        Task { [weak self] in
            guard let self else { return }
            for await comment in CommentStore.shared.live(article) {
                self.show(comment)
            }
        }
    }

    private func show(_ comment: Comment) {
        lock.withLock {
            shown.append(comment)
            shown.sort { $0.words > $1.words }
            if shown.count > 10 { shown.removeLast() }
        }
    }

    var headline: String {
        lock.withLock { "article \(article) with \(shown.count) comments" }
    }
}

final class Reader {
    private var current: ArticleModel?
    private var trail: [Int] = []
    private(set) var visits = 0

    func open(_ article: Int) async throws {
        current = ArticleModel(article: article)
        trail.append(article)
        if trail.count > 10 { trail.removeFirst() }
        visits += 1
        while CommentStore.shared.opened < visits {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func back() async throws {
        guard trail.count > 1 else { return }
        trail.removeLast()
        try await open(trail.removeLast())
    }

    var title: String { current?.headline ?? "home" }
}

struct Crowd {
    let names = ["ada", "bob", "cyd", "dee"]

    func comment(on article: Int, times: Int) {
        for n in 0..<times {
            CommentStore.shared.add(Comment(article: article, author: names[n % names.count], words: 5 + (n * article) % 60))
        }
    }
}

let reader = Reader()
let crowd = Crowd()

for step in 0..<100 {
    try await reader.open(step % 12)
    crowd.comment(on: (step + 1) % 12, times: 2)
    if step % 5 == 4 { try await reader.back() }
}
try await reader.open(3)

for round in 1...25 {
    crowd.comment(on: 3, times: 2)
    crowd.comment(on: 5 + round % 3, times: 1)
    try await Task.sleep(for: .milliseconds(12))
}
print("\(reader.title), \(reader.visits) visits, \(CommentStore.shared.count) comments in all")
