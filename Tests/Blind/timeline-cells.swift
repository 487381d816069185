struct Post: Sendable, Equatable {
    let id: Int
    var replies: Int
}

@MainActor
final class TimelineStore {
    private var posts: [Post]
    private var observers: [ObjectIdentifier: [Int: AsyncStream<Post>.Continuation]] = [:]

    init(count: Int) {
        posts = (0..<count).map { Post(id: $0, replies: $0 % 4) }
    }

    func observe(_ id: Int, by cell: TimelineCell) -> AsyncStream<Post> {
        let key = ObjectIdentifier(cell)
        let (stream, continuation) = AsyncStream.makeStream(of: Post.self, bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.removeObserver(key, id) }
        }
        observers[key, default: [:]][id] = continuation
        continuation.yield(posts[id])
        return stream
    }

    private func removeObserver(_ key: ObjectIdentifier, _ id: Int) {
        observers[key]?[id] = nil
        if observers[key]?.isEmpty == true { observers[key] = nil }
    }

    func reply(to id: Int) {
        posts[id].replies += 1
        for sinks in observers.values { sinks[id]?.yield(posts[id]) }
    }

    var replyCount: Int { posts.reduce(0) { $0 + $1.replies } }
}

@MainActor
final class TimelineCell {
    private(set) var text = ""
    private var renders = 0

    func render(_ updates: AsyncStream<Post>) async {
        for await post in updates {
            text = "#\(post.id)(\(post.replies))"
            renders += 1
        }
    }
}

@MainActor
final class TimelineList {
    private let store: TimelineStore
    private let height: Int
    private var visible: [Int: TimelineCell] = [:]
    private var bindings: [Int: Task<Void, Never>] = [:]
    private(set) var created = 0

    init(store: TimelineStore, height: Int) {
        self.store = store
        self.height = height
    }

    private func bind(_ row: Int) {
        let cell = TimelineCell()
        created += 1
        visible[row] = cell
        let updates = store.observe(row, by: cell)
        bindings[row]?.cancel()
        bindings[row] = Task {
            await cell.render(updates)
        }
    }

    private func endDisplaying(_ row: Int) {
        visible[row] = nil
        bindings.removeValue(forKey: row)?.cancel()
    }

    func scroll(to top: Int) {
        let rows = top..<(top + height)
        for row in visible.keys where !rows.contains(row) { endDisplaying(row) }
        for row in rows where visible[row] == nil { bind(row) }
    }

    func reloadVisible() {
        for row in visible.keys.sorted() { bind(row) }
    }

    var texts: [String] { visible.keys.sorted().map { visible[$0]!.text } }
}

@main
@MainActor
struct Timeline {
    static let store = TimelineStore(count: 80)
    static let list = TimelineList(store: store, height: 8)

    static func main() async throws {
        for position in stride(from: 0, through: 60, by: 3) {
            list.scroll(to: position)
            for row in position..<(position + 8) where row % 3 == 0 { store.reply(to: row) }
            try await Task.sleep(for: .milliseconds(15))
            if position % 4 == 0 { list.reloadVisible() }
        }
        for round in 0..<30 {
            store.reply(to: 60 + round % 10)
            try await Task.sleep(for: .milliseconds(15))
        }
        print(list.texts.joined(separator: " "), "created \(list.created), replies \(store.replyCount)")
    }
}
