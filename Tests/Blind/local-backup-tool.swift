import Foundation

final class Block {
    let data: [UInt8]
    let checksum: UInt32
    init(_ d: [UInt8]) {
        data = d
        checksum = Block.sum(d)
    }
    static func sum(_ d: [UInt8]) -> UInt32 {
        var a: UInt32 = 1, b: UInt32 = 0
        for x in d {
            a = (a + UInt32(x)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }
}

final class SourceFile {
    let path: String
    let size: Int
    init(path: String, size: Int) {
        self.path = path
        self.size = size
    }
    func read(offset: Int, count: Int) -> [UInt8] {
        let seed = path.utf8.reduce(0) { $0 &+ Int($1) }
        return (offset..<min(size, offset + count)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
    }
}

final class Volume {
    let number: Int
    private(set) var blocks: [Block] = []
    private(set) var used = 0
    let capacity: Int
    init(number: Int, capacity: Int) {
        self.number = number
        self.capacity = capacity
    }
    func append(_ b: Block) -> Int {
        blocks.append(b)
        used += b.data.count
        return blocks.count - 1
    }
    var isFull: Bool { used >= capacity }
}

final class CatalogEntry {
    let path: String
    private(set) var extents: [(volume: Volume, index: Int)] = []
    init(path: String) { self.path = path }
    func add(_ v: Volume, _ i: Int) { extents.append((v, i)) }
}

final class DeferredSteps {
    private var steps: [() -> Bool] = []
    func later(_ step: @escaping () -> Bool) { steps.append(step) }

    func execute() -> (passed: Int, failed: Int) {
        var passed = 0, failed = 0
        while let step = steps.popLast() {
            if step() { passed += 1 } else { failed += 1 }
        }
        return (passed, failed)
    }
    var count: Int { steps.count }
}

final class Backup {
    private var catalog: [CatalogEntry] = []
    private var current: Volume
    private var volumes = 1
    private var known: [UInt32: (Volume, Int)] = [:]
    private let deferred = DeferredSteps()
    private(set) var shared = 0
    private(set) var bytes = 0

    init() { current = Volume(number: 1, capacity: 60_000) }

    func store(_ f: SourceFile) {
        let entry = CatalogEntry(path: f.path)
        var offset = 0
        while offset < f.size {
            let block = Block(f.read(offset: offset, count: 512))
            offset += 512
            place(block, in: entry)
        }
        catalog.append(entry)
        deferred.later { [entry] in
            entry.extents.allSatisfy { e in
                let b = e.volume.blocks[e.index]
                return Block.sum(b.data) == b.checksum
            }
        }
    }

    private func place(_ block: Block, in entry: CatalogEntry) {
        if let (v, i) = known[block.checksum] {
            entry.add(v, i)
            shared += 1
            return
        }
        if current.isFull { seal() }
        let i = current.append(block)
        bytes += block.data.count
        known[block.checksum] = (current, i)
        entry.add(current, i)
    }

    private func seal() {
        let done = current
        deferred.later { done.blocks.reduce(0) { $0 + $1.data.count } == done.used }
        volumes += 1
        current = Volume(number: volumes, capacity: 60_000)
    }

    func finish() -> String {
        seal()
        let pending = deferred.count
        let r = deferred.execute()
        let longest = catalog.max { $0.extents.count < $1.extents.count }?.path ?? "-"
        return "files \(catalog.count) volumes \(volumes - 1) bytes \(bytes) shared blocks \(shared) checks \(pending) passed \(r.passed) failed \(r.failed) longest \(longest)"
    }
}

final class FileScanner {
    private var index = 0
    func next() -> SourceFile? {
        guard index < 700 else { return nil }
        index += 1
        let name = index % 6 == 0 ? "copy-of-readme" : "file-\(index)"
        return SourceFile(path: "/home/user\(index % 4)/" + name, size: 200 + (index * 97) % 2600)
    }
}

func backup() {
    let tool = Backup()
    let scanner = FileScanner()
    while let f = scanner.next() {
        tool.store(f)
        usleep(2_200)
    }
    print(tool.finish())
}

backup()
