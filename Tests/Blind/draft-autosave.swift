import Foundation

final class DraftStore: @unchecked Sendable {
    private let queue = DispatchQueue(label: "drafts")
    private var saved: [Int: String] = [:]

    func save(_ id: Int, _ text: String) { queue.sync { saved[id] = text } }
    func delete(_ id: Int) { queue.sync { saved[id] = nil } }
    var summary: (count: Int, characters: Int) {
        queue.sync { (saved.count, saved.values.reduce(0) { $0 + $1.count }) }
    }
}

final class DraftEditor: @unchecked Sendable {
    let id: Int
    private let store: DraftStore
    private let keys: AsyncStream<Character>.Continuation
    private let stream: AsyncStream<Character>
    private let lock = NSLock()
    private var text = ""
    private var pendingSave: Task<Void, Never>?

    init(id: Int, store: DraftStore) {
        self.id = id
        self.store = store
        (stream, keys) = AsyncStream.makeStream(of: Character.self)
    }

    func begin() {
        Task {
            for await key in stream {
                append(key)
                pendingSave?.cancel()
                pendingSave = Task { [store, id] in
                    let snapshot = self.current
                    try? await Task.sleep(for: .milliseconds(8))
                    if !Task.isCancelled { store.save(id, snapshot) }
                }
            }
            await pendingSave?.value
            pendingSave = nil
        }
    }

    private func append(_ key: Character) { lock.withLock { text.append(key) } }
    private var current: String { lock.withLock { text } }

    func type(_ words: String) {
        for key in words { keys.yield(key) }
    }

    func close() {
        keys.finish()
    }

    func discard() {
        lock.withLock { text = "" }
        store.delete(id)
    }
}

struct Desktop {
    let store: DraftStore
    var windows: [Int: DraftEditor] = [:]
    var discarded = 0

    mutating func compose(_ id: Int) {
        let editor = DraftEditor(id: id, store: store)
        editor.begin()
        windows[id] = editor
    }

    mutating func finish(_ id: Int) {
        windows.removeValue(forKey: id)?.close()
    }

    mutating func throwAway(_ id: Int) {
        guard let editor = windows.removeValue(forKey: id) else { return }
        editor.discard()
        discarded += 1
    }
}

let phrases = ["dear all, ", "the meeting moves ", "to thursday. ", "regards, "]
let store = DraftStore()
var desktop = Desktop(store: store)

for batch in 0..<4 {
    let ids = (0..<5).map { batch * 5 + $0 }
    for id in ids { desktop.compose(id) }
    for phrase in phrases {
        for id in ids { desktop.windows[id]?.type(phrase + String(id)) }
        try await Task.sleep(for: .milliseconds(12))
    }
    try await Task.sleep(for: .milliseconds(60))
    for id in ids {
        if id % 5 == 3 { desktop.throwAway(id) } else { desktop.finish(id) }
    }
}

for id in 100..<106 {
    desktop.compose(id)
    desktop.windows[id]?.type("note \(id): ")
    try await Task.sleep(for: .milliseconds(15))
    desktop.windows[id]?.type("done")
    desktop.finish(id)
    try await Task.sleep(for: .milliseconds(60))
}
let result = store.summary
print("\(result.count) drafts saved, \(result.characters) characters, \(desktop.discarded) thrown away")
