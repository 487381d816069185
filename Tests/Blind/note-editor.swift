actor NoteArchive {
    private var notes: [Int: String] = [:]
    private(set) var writes = 0

    func write(_ id: Int, _ text: String) {
        notes[id] = text
        writes += 1
    }

    func erase(_ id: Int) { notes[id] = nil }

    var size: Int { notes.values.reduce(0) { $0 + $1.count } }
    var count: Int { notes.count }
}

actor OpenNote {
    nonisolated let id: Int
    private let archive: NoteArchive
    private let edits: AsyncStream<String>
    private nonisolated let input: AsyncStream<String>.Continuation
    private var text = ""
    private var delayed: Task<Void, Never>?
    private var discarded = false

    init(id: Int, archive: NoteArchive) {
        self.id = id
        self.archive = archive
        (edits, input) = AsyncStream.makeStream(of: String.self)
    }

    func begin() {
        Task {
            for await edit in edits {
                text += edit
                scheduleSave()
            }
            delayed?.cancel()
            if !discarded { await archive.write(id, text) }
        }
    }

    private func scheduleSave() {
        delayed?.cancel()
        delayed = Task {
            do {
                try await Task.sleep(for: .milliseconds(400))
                await archive.write(id, text)
            } catch {}
        }
    }

    nonisolated func insert(_ string: String) { input.yield(string) }

    nonisolated func close() { input.finish() }

    func discard() {
        discarded = true
        input.finish()
    }
}

@MainActor
final class Notebook {
    private let archive: NoteArchive
    private var open: OpenNote?
    private(set) var opened = 0
    private(set) var discarded = 0

    init(archive: NoteArchive) { self.archive = archive }

    func show(_ id: Int) async {
        open?.close()
        let note = OpenNote(id: id, archive: archive)
        await note.begin()
        open = note
        opened += 1
    }

    func type(_ words: [String]) {
        for word in words { open?.insert(word + " ") }
    }

    func throwAway() async {
        guard let note = open else { return }
        open = nil
        await note.discard()
        discarded += 1
    }

    var title: String { open.map { "note \($0.id)" } ?? "nothing" }
}

@main
struct Notes {
    static let archive = NoteArchive()
    @MainActor static let notebook = Notebook(archive: archive)

    @MainActor
    static func main() async throws {
        let words = "milk eggs bread call plumber friday water plants".split(separator: " ").map(String.init)
        for id in 1...45 {
            await notebook.show(id)
            notebook.type(Array(words.prefix(id % 7 + 1)))
            if id % 9 == 4 { await notebook.throwAway() }
            try await Task.sleep(for: .milliseconds(8))
        }
        for id in 100...115 {
            await notebook.show(id)
            notebook.type(words)
            try await Task.sleep(for: .milliseconds(15))
        }
        try await Task.sleep(for: .milliseconds(600))
        print("opened \(notebook.opened), discarded \(notebook.discarded), showing \(notebook.title)")
        print("archive: \(await archive.count) notes, \(await archive.size) characters, \(await archive.writes) writes")
    }
}
