import Foundation

struct Segment {
    let index: Int
    let bytes: [UInt8]

    var digest: UInt32 {
        bytes.reduce(UInt32(5381)) { ($0 << 5) &+ $0 &+ UInt32($1) }
    }
}

enum TransferError: Error {
    case corrupt(segment: Int)
    case quotaExceeded
}

final class Transfer: @unchecked Sendable {
    let id: Int
    let fileName: String
    let segments: [Segment]
    private let lock = NSLock()
    private var received = 0

    init(id: Int, fileName: String, segments: [Segment]) {
        self.id = id
        self.fileName = fileName
        self.segments = segments
    }

    func track(_ stream: AsyncStream<Int>, journal: Journal) {
        Task {
            for await bytes in stream {
                self.add(bytes)
            }
            journal.close(id: self.id, bytes: self.total)
        }
    }

    private func add(_ bytes: Int) {
        lock.withLock { received += bytes }
    }

    private var total: Int { lock.withLock { received } }
}

final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Int: Int] = [:]

    func close(id: Int, bytes: Int) {
        lock.withLock { entries[id] = bytes }
    }

    var count: Int { lock.withLock { entries.count } }
    var bytes: Int { lock.withLock { entries.values.reduce(0, +) } }
}

struct Receiver {
    let quota: Int
    private(set) var used = 0
    private(set) var accepted = 0

    init(quota: Int) {
        self.quota = quota
    }

    mutating func receive(_ transfer: Transfer, digests: [UInt32], progress: AsyncStream<Int>.Continuation) throws {
        defer { progress.finish() }
        let size = transfer.segments.reduce(0) { $0 + $1.bytes.count }
        guard used + size <= quota else { throw TransferError.quotaExceeded }
        for segment in transfer.segments {
            guard segment.digest == digests[segment.index] else {
                throw TransferError.corrupt(segment: segment.index)
            }
            progress.yield(segment.bytes.count)
        }
        used += size
        accepted += 1
    }
}

func segments(seed: Int) -> [Segment] {
    (0..<5).map { index in
        Segment(index: index, bytes: (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ seed &* 3 &+ index) })
    }
}

func serve(_ total: Int, journal: Journal) async -> (accepted: Int, corrupt: Int, overQuota: Int) {
    var receiver = Receiver(quota: 520_000)
    var corrupt = 0
    var overQuota = 0
    for id in 0..<total {
        let parts = segments(seed: id)
        var digests = parts.map(\.digest)
        if id % 7 == 3 { digests[2] &+= 1 }
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let transfer = Transfer(id: id, fileName: "scan-\(id).tif", segments: parts)
        transfer.track(stream, journal: journal)
        do {
            try receiver.receive(transfer, digests: digests, progress: continuation)
        } catch TransferError.quotaExceeded {
            overQuota += 1
        } catch {
            corrupt += 1
        }
        if id % 12 == 0 { try? await Task.sleep(nanoseconds: 40_000_000) }
    }
    return (receiver.accepted, corrupt, overQuota)
}

let journal = Journal()
let result = await serve(240, journal: journal)
for _ in 0..<40 where journal.count < 240 {
    try await Task.sleep(nanoseconds: 20_000_000)
}
try await Task.sleep(nanoseconds: 50_000_000)
print("accepted \(result.accepted), corrupt \(result.corrupt), over quota \(result.overQuota), journal \(journal.count)")
