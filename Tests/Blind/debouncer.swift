import Foundation

final class Draft: Sendable {
    let document: String
    let revision: Int
    let text: String
    init(document: String, revision: Int) {
        self.document = document
        self.revision = revision
        text = String(repeating: "lorem ", count: revision % 20 + 1)
    }
}

actor AsyncSemaphore {
    private var permits: Int
    private var waiters: [UnsafeContinuation<Void, Never>] = []
    init(_ permits: Int) { self.permits = permits }

    func wait() async {
        permits -= 1
        if permits >= 0 { return }
        await withUnsafeContinuation { waiters.append($0) }
    }

    func signal() {
        permits += 1
        if !waiters.isEmpty { waiters.removeFirst().resume() }
    }
}

actor Debouncer {
    private let delay: Duration
    private var pending: Task<Void, Never>?
    private(set) var fired = 0
    init(delay: Duration) { self.delay = delay }

    func call(_ action: @escaping @Sendable () async -> Void) {
        pending?.cancel()
        pending = Task {
            do { try await Task.sleep(for: delay) } catch { return }
            await action()
            fired += 1
        }
    }
}

actor DraftStore {
    static let shared = DraftStore()
    private var latest: [String: Draft] = [:]
    private(set) var writes = 0
    func save(_ draft: Draft) {
        latest[draft.document] = draft
        writes += 1
    }
}

enum Editor {
    static let documents = ["todo.md", "notes.md", "plan.md", "diary.md"]
    static let debouncers = documents.map { _ in Debouncer(delay: .milliseconds(40)) }
    static let disk = AsyncSemaphore(1)
}

func keystroke(_ index: Int, revision: Int) async {
    let draft = Draft(document: Editor.documents[index], revision: revision)
    await Editor.debouncers[index].call {
        await Editor.disk.wait()
        try? await Task.sleep(for: .milliseconds(5))
        await DraftStore.shared.save(draft)
        await Editor.disk.signal()
    }
}

@main
struct EditorApp {
    static func main() async throws {
        var revision = 0
        for round in 1...6 {
            for _ in 0..<15 {
                revision += 1
                for index in 0..<4 { await keystroke(index, revision: revision) }
                try await Task.sleep(for: .milliseconds(2))
            }
            if round < 6 {
                try await Task.sleep(for: .milliseconds(150))
            }
        }
        print("drafts written:", await DraftStore.shared.writes >= 4)
    }
}
