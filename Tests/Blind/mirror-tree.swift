import Foundation

final class Attributes {
    var size: Int
    var modified: Int
    init(size: Int, modified: Int) {
        self.size = size
        self.modified = modified
    }
}

final class Entry {
    var name: String
    let attributes: Attributes
    weak var parent: Entry?
    var children: [String: Entry]?

    init(name: String, isFolder: Bool, attributes: Attributes) {
        self.name = name
        self.attributes = attributes
        children = isFolder ? [:] : nil
    }

    var path: String {
        guard let parent else { return name }
        return parent.path + "/" + name
    }
}

final class Mirror {
    let root: Entry
    private var index: [String: Entry] = [:]
    private(set) var created = 0

    init() {
        root = Entry(name: "", isFolder: true, attributes: Attributes(size: 0, modified: 0))
        index[""] = root
    }

    @discardableResult
    func create(_ path: String, isFolder: Bool = false, size: Int = 0, at time: Int) -> Entry? {
        guard let cut = path.lastIndex(of: "/"), let parent = index[String(path[..<cut])] else { return nil }
        let entry = Entry(name: String(path[path.index(after: cut)...]), isFolder: isFolder,
                          attributes: Attributes(size: size, modified: time))
        entry.parent = parent
        parent.children?[entry.name] = entry
        index[path] = entry
        created += 1
        return entry
    }

    func rename(_ oldPath: String, to newPath: String) {
        guard let entry = index.removeValue(forKey: oldPath),
              let cut = newPath.lastIndex(of: "/"),
              let target = index[String(newPath[..<cut])] else { return }
        entry.parent?.children?[entry.name] = nil
        entry.name = String(newPath[newPath.index(after: cut)...])
        entry.parent = target
        target.children?[entry.name] = entry
        index[newPath] = entry
        for child in (entry.children ?? [:]).values {
            index.removeValue(forKey: oldPath + "/" + child.name)
            index[newPath + "/" + child.name] = child
        }
    }

    func delete(_ path: String) {
        guard let entry = index[path] else { return }
        forget(entry)
        entry.parent?.children?[entry.name] = nil
    }

    private func forget(_ entry: Entry) {
        index[entry.path] = nil
        for child in (entry.children ?? [:]).values { forget(child) }
    }

    func totalSize(_ entry: Entry) -> Int {
        entry.attributes.size + (entry.children ?? [:]).values.reduce(0) { $0 + totalSize($1) }
    }
}

let mirror = Mirror()
for folder in ["/incoming", "/done", "/config"] { mirror.create(folder, isFolder: true, at: 0) }
for n in 0..<25 { mirror.create("/config/rule\(n).json", size: 100 + n, at: 0) }
var finished: [String] = []
var observed = 0
for job in 0..<240 {
    let folder = "/incoming/job\(job)"
    mirror.create(folder, isFolder: true, at: job)
    for part in 0..<3 { mirror.create("\(folder)/part\(part).bin", size: 1000 * part, at: job) }
    if job % 4 == 1 {
        mirror.create("\(folder)/logs", isFolder: true, at: job)
        mirror.create("\(folder)/logs/stdout.txt", size: 20, at: job)
        mirror.create("\(folder)/logs/stderr.txt", size: 5, at: job)
    }
    observed = max(observed, mirror.totalSize(mirror.root))
    mirror.rename(folder, to: "/done/job\(job)")
    finished.append("/done/job\(job)")
    if finished.count > 15 { mirror.delete(finished.removeFirst()) }
    usleep(3500)
}
for path in finished { mirror.delete(path) }
print("entries seen \(mirror.created), peak size \(observed)")
print("remaining size \(mirror.totalSize(mirror.root))")
