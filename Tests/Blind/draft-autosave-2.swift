import Foundation
import Dispatch

final class Snapshot {
    let revision: Int
    let text: String
    init(revision: Int, text: String) {
        self.revision = revision
        self.text = text
    }
}

final class DraftStorage {
    private let lock = NSLock()
    private var latest: [String: Int] = [:]
    private var writes = 0

    func write(_ snapshot: Snapshot, title: String) {
        lock.withLock {
            latest[title] = max(latest[title] ?? 0, snapshot.revision)
            writes += 1
        }
    }

    var status: (documents: Int, writes: Int) { lock.withLock { (latest.count, writes) } }
}

final class DraftDocument {
    let title: String
    private(set) var revision = 0
    private var text = ""
    private var pendingSave: DispatchWorkItem?
    private let storage: DraftStorage
    private let queue: DispatchQueue

    init(title: String, storage: DraftStorage, queue: DispatchQueue) {
        self.title = title
        self.storage = storage
        self.queue = queue
    }

    func type(_ addition: String) {
        revision += 1
        text += addition
        scheduleSave(Snapshot(revision: revision, text: text))
    }

    private func scheduleSave(_ snapshot: Snapshot) {
        pendingSave?.cancel()
        let title = self.title
        let storage = self.storage
        var item: DispatchWorkItem!
        item = DispatchWorkItem {
            if item.isCancelled { return }
            storage.write(snapshot, title: title)
        }
        pendingSave = item
        queue.asyncAfter(deadline: .now() + .milliseconds(30), execute: item)
    }
}

final class Editor {
    private let queue = DispatchQueue(label: "editor.autosave")
    let storage = DraftStorage()
    private var closed = 0

    func session(number: Int) {
        let document = DraftDocument(title: "draft-\(number)", storage: storage, queue: queue)
        for word in ["It ", "was ", "a ", "dark ", "night."] { document.type(word) }
        Thread.sleep(forTimeInterval: 0.045)
        queue.sync { closed += 1 }
    }

    var sessions: Int { queue.sync { closed } }
}

let editor = Editor()
for number in 0..<24 { editor.session(number: number) }
Thread.sleep(forTimeInterval: 0.1)
print("sessions \(editor.sessions), documents saved \(editor.storage.status.documents)")
