import Foundation

enum Change: Sendable {
    case added(String)
    case removed(String)
    case rated(String, Int)
}

final class Thumbnail: @unchecked Sendable {
    let name: String
    var pixels: [UInt8]
    init(name: String) {
        self.name = name
        pixels = [UInt8](repeating: UInt8(name.utf8.count), count: 256)
    }
}

final class Album: @unchecked Sendable {
    let title: String
    private let lock = NSLock()
    private var thumbnails: [String: Thumbnail] = [:]
    private var ratings: [String: Int] = [:]

    init(title: String) { self.title = title }

    func apply(_ change: Change) {
        lock.lock()
        defer { lock.unlock() }
        switch change {
        case .added(let name): thumbnails[name] = Thumbnail(name: name)
        case .removed(let name):
            thumbnails[name] = nil
            ratings[name] = nil
        case .rated(let name, let stars): if thumbnails[name] != nil { ratings[name] = stars }
        }
    }

    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return thumbnails.count
    }
}

actor ChangeHub {
    private var continuations: [String: AsyncStream<Change>.Continuation] = [:]
    private(set) var sent = 0

    func stream(for title: String) -> AsyncStream<Change> {
        AsyncStream(bufferingPolicy: .bufferingNewest(50)) { continuation in
            continuations[title] = continuation
        }
    }

    func send(_ change: Change, to title: String) {
        sent += 1
        continuations[title]?.yield(change)
    }

    func finish(_ title: String) {
        continuations.removeValue(forKey: title)?.finish()
    }
}

final class Watcher: @unchecked Sendable {
    let album: Album
    private var task: Task<Void, Never>?

    init(album: Album) { self.album = album }

    func start(on stream: AsyncStream<Change>) {
        task = Task {
            for await change in stream {
                self.album.apply(change)
            }
        }
    }

    func stop() {
        task?.cancel()
        task = nil
    }
}

actor PhotoLibrary {
    private let hub: ChangeHub
    private var watchers: [String: Watcher] = [:]
    private var photos = 0
    private var closed = 0
    private var shared = 0

    init(hub: ChangeHub) { self.hub = hub }

    func open(_ title: String) async {
        let watcher = Watcher(album: Album(title: title))
        watchers[title] = watcher
        watcher.start(on: await hub.stream(for: title))
    }

    func close(_ title: String) async {
        guard let watcher = watchers.removeValue(forKey: title) else { return }
        photos += watcher.album.count
        closed += 1
        watcher.stop()
        await hub.finish(title)
    }

    func share(_ title: String, with family: FamilyLibrary) async {
        guard let watcher = watchers.removeValue(forKey: title) else { return }
        shared += 1
        await family.take(title: title, photos: watcher.album.count)
    }

    func summary() -> String { "closed \(closed), shared \(shared), photos \(photos), open \(watchers.count)" }
}

actor FamilyLibrary {
    private var titles: [String] = []
    private var photos = 0
    func take(title: String, photos count: Int) {
        titles.append(title)
        photos += count
    }
    func summary() -> String { "family: \(titles.sorted().joined(separator: " ")) with \(photos) photos" }
}

func synchronize() async {
    let hub = ChangeHub()
    let library = PhotoLibrary(hub: hub)
    let family = FamilyLibrary()
    var open: [Int] = []
    for number in 0..<260 {
        let title = "album-\(number)"
        await library.open(title)
        open.append(number)
        for (offset, other) in open.enumerated() {
            let name = "img-\(number)-\(offset)"
            await hub.send(.added(name), to: "album-\(other)")
            if offset % 2 == 0 { await hub.send(.rated(name, number % 5), to: "album-\(other)") }
            if offset % 5 == 4 { await hub.send(.removed(name), to: "album-\(other)") }
        }
        if open.count > 8 {
            let oldest = open.removeFirst()
            if oldest % 47 == 20 {
                await library.share("album-\(oldest)", with: family)
            } else {
                await library.close("album-\(oldest)")
            }
        }
        try? await Task.sleep(nanoseconds: 7_000_000)
    }
    for number in open { await library.close("album-\(number)") }
    print(await library.summary())
    print(await family.summary())
    print("changes \(await hub.sent)")
}

await synchronize()
