import Foundation

final class TextDocument {
    let id: String
    private(set) var text = ""
    private(set) var revision = 0

    init(id: String) { self.id = id }

    func insert(_ fragment: String) {
        text += fragment
        revision += 1
    }
}

final class DocumentStore {
    private let tableLock = NSLock()
    private var documents: [String: TextDocument] = [:]
    private var locks: [String: NSLock] = [:]
    private(set) var savedBytes = 0

    private func lock(for id: String) -> NSLock {
        tableLock.lock()
        defer { tableLock.unlock() }
        if let lock = locks[id] { return lock }
        let lock = NSLock()
        locks[id] = lock
        return lock
    }

    func open(_ id: String) {
        let lock = lock(for: id)
        lock.lock()
        defer { lock.unlock() }
        tableLock.lock()
        if documents[id] == nil { documents[id] = TextDocument(id: id) }
        tableLock.unlock()
    }

    func edit(_ id: String, _ fragment: String) {
        let lock = lock(for: id)
        lock.lock()
        defer { lock.unlock() }
        tableLock.lock()
        let document = documents[id]
        tableLock.unlock()
        document?.insert(fragment)
    }

    func close(_ id: String) {
        let lock = lock(for: id)
        lock.lock()
        defer { lock.unlock() }
        tableLock.lock()
        let document = documents.removeValue(forKey: id)
        tableLock.unlock()
        savedBytes += document?.text.utf8.count ?? 0
    }

    var status: String { "open \(documents.count) locks \(locks.count) saved \(savedBytes)" }
}

let store = DocumentStore()
for session in 0..<25 {
    let ids = (0..<20).map { "s\(session)-d\($0)" }
    for id in ids { store.open(id) }
    for round in 0..<5 {
        for id in ids { store.edit(id, "line \(round)\n") }
    }
    for id in ids { store.close(id) }
}
print(store.status)
