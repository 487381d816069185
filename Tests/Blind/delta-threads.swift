import Foundation

// Backup tool: computes deltas between two generations of files, one POSIX
// thread per file, and writes a summary of what would be stored.

struct Chunk: Hashable {
    let offset: Int
    let length: Int
}

/// Content defined chunking with a rolling sum.
struct Chunker {
    let mask: UInt32
    let minimum: Int

    func chunks(of bytes: [UInt8]) -> [Chunk] {
        var result: [Chunk] = []
        var start = 0
        var rolling: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            rolling = rolling << 1 &+ UInt32(byte) &* 2_654_435_761
            if index - start >= minimum, rolling >> 20 & mask == 0 {
                result.append(Chunk(offset: start, length: index + 1 - start))
                start = index + 1
                rolling = 0
            }
        }
        if start < bytes.count { result.append(Chunk(offset: start, length: bytes.count - start)) }
        return result
    }

    func fingerprint(_ bytes: [UInt8], _ chunk: Chunk) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in chunk.offset..<(chunk.offset + chunk.length) { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return hash
    }
}

final class FileVersion {
    let name: String
    let bytes: [UInt8]
    init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

struct DeltaSummary {
    let name: String
    let kept: Int
    let stored: Int
    let storedBytes: Int
}

final class DeltaCollector: @unchecked Sendable {
    private let lock = NSLock()
    private var summaries: [DeltaSummary] = []

    func add(_ summary: DeltaSummary) { lock.withLock { summaries.append(summary) } }
    func sorted() -> [DeltaSummary] { lock.withLock { summaries.sorted { $0.name < $1.name } } }
}

final class DeltaJob {
    private let old: FileVersion
    private let new: FileVersion
    private let chunker = Chunker(mask: 0x1ff, minimum: 64)
    private unowned let collector: DeltaCollector

    init(old: FileVersion, new: FileVersion, collector: DeltaCollector) {
        self.old = old
        self.new = new
        self.collector = collector
    }

    func run() {
        var known = Set<UInt64>()
        for chunk in chunker.chunks(of: old.bytes) { known.insert(chunker.fingerprint(old.bytes, chunk)) }
        var kept = 0, stored = 0, storedBytes = 0
        for chunk in chunker.chunks(of: new.bytes) {
            if known.contains(chunker.fingerprint(new.bytes, chunk)) {
                kept += 1
            } else {
                stored += 1
                storedBytes += chunk.length
            }
        }
        collector.add(DeltaSummary(name: new.name, kept: kept, stored: stored, storedBytes: storedBytes))
    }
}

enum ThreadError: Error { case cannotCreate(Int32) }

/// A joinable POSIX thread which runs one job.
struct JobThread {
    private var handle = pthread_t()

    init(_ job: DeltaJob) throws {
        let context = Unmanaged.passRetained(job).toOpaque()
        let status = pthread_create(&handle, nil, { raw in
            let job = Unmanaged<DeltaJob>.fromOpaque(raw!).takeUnretainedValue()
            job.run()
            return nil
        }, context)
        guard status == 0 else {
            Unmanaged<DeltaJob>.fromOpaque(context).release()
            throw ThreadError.cannotCreate(status)
        }
    }

    func join() { pthread_join(handle, nil) }
}

struct Generator {
    private var state: UInt64
    init(seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) } }

    /// Copies the file with insertions, deletions and overwritten places.
    mutating func edited(_ original: [UInt8]) -> [UInt8] {
        var result = original
        for _ in 0..<4 {
            let position = Int(next() % UInt64(result.count - 400))
            switch next() % 3 {
            case 0: result.insert(contentsOf: bytes(120), at: position)
            case 1: result.removeSubrange(position..<(position + 200))
            default: result.replaceSubrange(position..<(position + 60), with: bytes(60))
            }
        }
        return result
    }
}

func compare(round: Int, files: Int, collector: DeltaCollector) throws {
    var threads: [JobThread] = []
    for number in 0..<files {
        var generator = Generator(seed: round * 1_000 + number + 1)
        let original = generator.bytes(24_000 + number * 500)
        let name = "r\(round)-f\(number)"
        let job = DeltaJob(old: FileVersion(name: name, bytes: original), new: FileVersion(name: name, bytes: generator.edited(original)), collector: collector)
        threads.append(try JobThread(job))
    }
    for thread in threads { thread.join() }
}

let collector = DeltaCollector()
for round in 0..<24 {
    try compare(round: round, files: 8, collector: collector)
    usleep(12_000)
}

let summaries = collector.sorted()
let kept = summaries.reduce(0) { $0 + $1.kept }
let stored = summaries.reduce(0) { $0 + $1.stored }
let bytes = summaries.reduce(0) { $0 + $1.storedBytes }
let largest = summaries.max { ($0.storedBytes, $1.name) < ($1.storedBytes, $0.name) }!
print("files \(summaries.count), chunks kept \(kept), chunks stored \(stored), bytes stored \(bytes)")
print("largest delta \(largest.name) with \(largest.storedBytes) bytes")
