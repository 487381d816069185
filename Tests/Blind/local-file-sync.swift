import Foundation

final class FileEntry {
    let path: String
    let digest: Int
    let size: Int
    let modified: Int
    weak var folder: Folder?
    init(path: String, digest: Int, size: Int, modified: Int) {
        self.path = path
        self.digest = digest
        self.size = size
        self.modified = modified
    }
    var name: String { String(path.split(separator: "/").last ?? "") }
}

final class Folder {
    let name: String
    private(set) var folders: [String: Folder] = [:]
    private(set) var files: [String: FileEntry] = [:]
    init(name: String) { self.name = name }

    func folder(_ parts: ArraySlice<Substring>) -> Folder {
        guard let first = parts.first else { return self }
        let key = String(first)
        let next: Folder
        if let f = folders[key] {
            next = f
        } else {
            next = Folder(name: key)
            folders[key] = next
        }
        return next.folder(parts.dropFirst())
    }
    func put(_ e: FileEntry) {
        files[e.name] = e
        e.folder = self
    }
    func remove(_ e: FileEntry) {
        files[e.name] = nil
        e.folder = nil
    }
    var weight: Int {
        files.values.reduce(0) { $0 + $1.size } + folders.values.reduce(0) { $0 + $1.weight }
    }
}

final class SyncTree {
    private let root = Folder(name: "/")
    private var byPath: [String: FileEntry] = [:]
    private var byDigest: [Int: [FileEntry]] = [:]

    func entry(_ path: String) -> FileEntry? { byPath[path] }

    func insert(_ e: FileEntry) {
        byPath[e.path] = e
        byDigest[e.digest, default: []].append(e)
        root.folder(e.path.split(separator: "/").dropLast()).put(e)
    }

    private func unindex(_ e: FileEntry) {
        byPath[e.path] = nil
        e.folder?.remove(e)
    }

    private func forgetDigest(_ e: FileEntry) {
        byDigest[e.digest]?.removeAll { $0 === e }
        if byDigest[e.digest]?.isEmpty == true { byDigest[e.digest] = nil }
    }

    func delete(_ path: String) {
        guard let e = byPath[path] else { return }
        unindex(e)
        forgetDigest(e)
    }

    func modify(_ path: String, digest: Int, size: Int, now: Int) {
        guard let e = byPath[path] else { return }
        unindex(e)
        forgetDigest(e)
        insert(FileEntry(path: path, digest: digest, size: size, modified: now))
    }

    func rename(_ path: String, to new: String, now: Int) {
        guard let e = byPath[path], byPath[new] == nil else { return }
        unindex(e)
        insert(FileEntry(path: new, digest: e.digest, size: e.size, modified: now))
    }

    func copies(of digest: Int) -> Bool { byDigest[digest] != nil }
    var count: Int { byPath.count }
    var weight: Int { root.weight }
    var paths: [String] { byPath.keys.sorted() }
}

enum Transfer {
    case upload(String, Int)
    case link(String)
}

final class Uploader {
    private var queue: [Transfer] = []
    private(set) var bytes = 0
    private(set) var links = 0
    func add(_ t: Transfer) { queue.append(t) }
    func work(_ n: Int) {
        for t in queue.prefix(n) {
            switch t {
            case .upload(_, let size): bytes += size
            case .link: links += 1
            }
        }
        queue.removeFirst(min(n, queue.count))
    }
    var isIdle: Bool { queue.isEmpty }
}

enum FileEvent {
    case created(String, Int, Int)
    case changed(String, Int, Int)
    case renamed(String, String)
    case removed(String)
}

final class Synchronizer {
    private let tree = SyncTree()
    private let uploader = Uploader()
    private var now = 0
    private var tally: [String: Int] = [:]

    func handle(_ e: FileEvent) {
        now += 1
        switch e {
        case .created(let path, let digest, let size):
            uploader.add(tree.copies(of: digest) ? .link(path) : .upload(path, size))
            tree.insert(FileEntry(path: path, digest: digest, size: size, modified: now))
            tally["created", default: 0] += 1
        case .changed(let path, let digest, let size):
            tree.modify(path, digest: digest, size: size, now: now)
            uploader.add(.upload(path, size))
            tally["changed", default: 0] += 1
        case .renamed(let path, let new):
            tree.rename(path, to: new, now: now)
            uploader.add(.link(new))
            tally["renamed", default: 0] += 1
        case .removed(let path):
            tree.delete(path)
            tally["removed", default: 0] += 1
        }
        if now % 3 == 0 { uploader.work(4) }
    }

    var paths: [String] { tree.paths }

    func finish() {
        while !uploader.isIdle { uploader.work(50) }
        let t = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
        print("files \(tree.count) weight \(tree.weight) \(t) bytes \(uploader.bytes) links \(uploader.links)")
    }
}

final class Disk {
    private let sync: Synchronizer
    private var serial = 0
    private var live: [String] = []
    init(_ s: Synchronizer) { sync = s }

    func activity(_ i: Int) {
        let kind = i % 10
        if kind < 4 || live.count < 40 {
            serial += 1
            let path = "home/d\(serial % 7)/f\(serial).txt"
            live.append(path)
            sync.handle(.created(path, (serial * 7919) % 100_003, 100 + serial % 900))
            return
        }
        let at = (i * 31) % live.count
        switch kind {
        case 4, 5: sync.handle(.changed(live[at], (i * 104_729) % 100_003, 100 + i % 700))
        case 6 where i % 200 == 6:
            let new = live[at].replacingOccurrences(of: ".txt", with: "-\(i).txt")
            sync.handle(.renamed(live[at], new))
            live[at] = new
        default: sync.handle(.removed(live.remove(at: at)))
        }
    }
}

func watch() {
    let sync = Synchronizer()
    let disk = Disk(sync)
    for i in 0..<4000 {
        disk.activity(i)
        if i % 5 == 0 { usleep(2_200) }
    }
    sync.finish()
}

watch()
