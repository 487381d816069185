import Synchronization

struct Notice: Sendable {
    let topic: String
    let unread: Int
}

final class NoticeCenter: Sendable {
    static let main = NoticeCenter()

    private let pipes = Mutex<[ObjectIdentifier: Pipe]>([:])

    func notices(_ topic: String) -> Notices {
        let pipe = Pipe(topic: topic)
        pipes.withLock { $0[ObjectIdentifier(pipe)] = pipe }
        return Notices(pipe: pipe, center: self)
    }

    func broadcast(_ notice: Notice) {
        let matching = pipes.withLock { all in all.values.filter { $0.topic == notice.topic } }
        matching.forEach { $0.push(notice) }
    }

    fileprivate func detach(_ pipe: Pipe) {
        _ = pipes.withLock { $0.removeValue(forKey: ObjectIdentifier(pipe)) }
    }
}

final class Pipe: Sendable {
    private struct State {
        var backlog: [Notice] = []
        var reader: CheckedContinuation<Notice?, Never>?
        var closed = false
    }

    let topic: String
    private let state = Mutex(State())

    init(topic: String) { self.topic = topic }

    func push(_ notice: Notice) {
        let reader = state.withLock { state -> CheckedContinuation<Notice?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.backlog.append(notice)
            return nil
        }
        reader?.resume(returning: notice)
    }

    func close() {
        let reader = state.withLock { state in
            state.closed = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    func pull() async -> Notice? {
        await withCheckedContinuation { continuation in
            let ready: Notice?? = state.withLock { state in
                if !state.backlog.isEmpty { return .some(state.backlog.removeFirst()) }
                if state.closed { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

struct Notices: AsyncSequence {
    typealias Element = Notice
    let pipe: Pipe
    let center: NoticeCenter

    struct Iterator: AsyncIteratorProtocol {
        let pipe: Pipe
        let center: NoticeCenter

        func next() async -> Notice? {
            await withTaskCancellationHandler {
                await pipe.pull()
            } onCancel: {
                center.detach(pipe)
                pipe.close()
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pipe: pipe, center: center) }
}

actor FolderView {
    nonisolated let path: String
    private(set) var badge = 0
    private var worker: Task<Void, Never>?

    init(path: String) { self.path = path }

    func open() {
        let notices = NoticeCenter.main.notices(path)
        worker = Task {
            for await notice in notices {
                badge += notice.unread
            }
        }
    }

    func close() async {
        worker?.cancel()
        await worker?.value
        worker = nil
    }
}

@main
struct MailClient {
    static func main() async {
        var sidebar: [String: FolderView] = [:]
        for account in 1...9 {
            for folder in ["inbox", "drafts", "sent", "lists", "junk"] {
                let view = FolderView(path: "\(account)/\(folder)")
                await view.open()
                sidebar[view.path] = view
            }
        }
        for path in sidebar.keys {
            NoticeCenter.main.broadcast(Notice(topic: path, unread: path.count % 4))
        }
        var total = 0
        for view in sidebar.values {
            while await view.badge < view.path.count % 4 { await Task.yield() }
            total += await view.badge
        }
        print("folders: \(sidebar.count), unread: \(total)")

        let archived = sidebar.keys.filter { $0.hasPrefix("7/") }
        for path in archived {
            sidebar[path] = nil
        }
        for view in sidebar.values {
            await view.close()
        }
        print("archived: \(archived.count), closed: \(sidebar.count)")
        sidebar.removeAll()
    }
}
