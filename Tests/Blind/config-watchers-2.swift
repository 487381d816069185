import Foundation

/// A small in-memory tree of files with modification stamps.
final class FileTree: @unchecked Sendable {
    private let lock = NSLock()
    private var stamps: [String: Int] = [:]
    private var clock = 0

    func touch(_ path: String) {
        lock.withLock {
            clock += 1
            stamps[path] = clock
        }
    }

    func move(_ from: String, to: String) {
        lock.withLock {
            clock += 1
            stamps[from] = nil
            stamps[to] = clock
        }
    }

    func delete(_ path: String) {
        lock.withLock { stamps[path] = nil }
    }

    func stamp(_ path: String) -> Int? {
        lock.withLock { stamps[path] }
    }

    var count: Int { lock.withLock { stamps.count } }
}

final class FileWatcher: @unchecked Sendable {
    let path: String
    private let tree: FileTree
    private let onChange: @Sendable (String) -> Void
    private var lastStamp: Int?
    private var poll: Task<Void, Never>?

    init(path: String, tree: FileTree, onChange: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.tree = tree
        self.onChange = onChange
        lastStamp = tree.stamp(path)
    }

    func resume() {
        poll = Task {
            while !Task.isCancelled {
                self.check()
                try? await Task.sleep(nanoseconds: 6_000_000)
            }
        }
    }

    private func check() {
        let stamp = tree.stamp(path)
        if stamp != lastStamp {
            lastStamp = stamp
            onChange(path)
        }
    }

    func cancel() {
        poll?.cancel()
    }
}

final class WatchTable: @unchecked Sendable {
    private let tree: FileTree
    private let lock = NSLock()
    private var watchers: [String: FileWatcher] = [:]
    private var notices: Set<String> = []
    private(set) var opened = 0

    init(tree: FileTree) {
        self.tree = tree
    }

    func watch(_ path: String) {
        let watcher = FileWatcher(path: path, tree: tree) { [weak self] changed in
            self?.note(changed)
        }
        opened += 1
        watchers[path] = watcher
        watcher.resume()
    }

    func rename(_ from: String, to: String) {
        guard watchers.removeValue(forKey: from) != nil else { return }
        tree.move(from, to: to)
        watch(to)
    }

    func unwatch(_ path: String) {
        watchers.removeValue(forKey: path)?.cancel()
    }

    private func note(_ path: String) {
        lock.withLock { _ = notices.insert(path) }
    }

    var watching: Int { watchers.count }
    var sawChanges: Bool { lock.withLock { !notices.isEmpty } }
}

struct EditorSession {
    let number: Int
    let table: WatchTable
    let tree: FileTree

    func open() -> [String] {
        (0..<10).map { slot in
            let path = "/etc/app/\(number)/section\(slot).conf"
            tree.touch(path)
            table.watch(path)
            return path
        }
    }

    func edit(_ paths: [String]) -> [String] {
        paths.enumerated().map { slot, path in
            tree.touch(path)
            guard (slot + number) % 3 == 0 else { return path }
            let target = path.replacingOccurrences(of: ".conf", with: ".conf.d")
            table.rename(path, to: target)
            return target
        }
    }

    func close(_ paths: [String]) {
        for path in paths {
            table.unwatch(path)
            tree.delete(path)
        }
    }
}

let tree = FileTree()
let table = WatchTable(tree: tree)
tree.touch("/etc/app/main.conf")
for number in 0..<30 {
    let session = EditorSession(number: number, table: table, tree: tree)
    var paths = session.open()
    usleep(9_000)
    paths = session.edit(paths)
    usleep(UInt32(8_000 + number % 4 * 4_000))
    session.close(paths)
}
usleep(60_000)
print("opened \(table.opened) watchers, \(table.watching) in the table, \(tree.count) file left")
print("changes seen: \(table.sawChanges)")
