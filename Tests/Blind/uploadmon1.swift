import Foundation

struct Chunk {
    let index: Int
    let bytes: [UInt8]

    var checksum: UInt32 {
        bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}

enum UploadError: Error {
    case checksumMismatch(chunk: Int)
}

final class UploadSession: @unchecked Sendable {
    let id: Int
    let fileName: String
    private let chunks: [Chunk]
    private let lock = NSLock()
    private var percent = 0
    private var received = 0

    init(id: Int, fileName: String, chunks: [Chunk]) {
        self.id = id
        self.fileName = fileName
        self.chunks = chunks
    }

    var body: [Chunk] { chunks }

    func reportProgress(from stream: AsyncStream<Int>, to log: ProgressLog) {
        Task {
            for await bytes in stream {
                self.advance(by: bytes)
            }
            log.completed(id: self.id, percent: self.currentPercent)
        }
    }

    private func advance(by bytes: Int) {
        lock.lock()
        defer { lock.unlock() }
        received += bytes
        percent = received * 100 / max(1, chunks.reduce(0) { $0 + $1.bytes.count })
    }

    var currentPercent: Int {
        lock.lock()
        defer { lock.unlock() }
        return percent
    }
}

final class ProgressLog: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [Int: Int] = [:]

    func completed(id: Int, percent: Int) {
        lock.withLock { lines[id] = percent }
    }

    var count: Int { lock.withLock { lines.count } }
}

struct BlobStore {
    private(set) var stored: [String: Int] = [:]

    mutating func store(_ session: UploadSession, expecting sums: [UInt32], progress: AsyncStream<Int>.Continuation) throws {
        var size = 0
        for chunk in session.body {
            guard chunk.checksum == sums[chunk.index] else {
                throw UploadError.checksumMismatch(chunk: chunk.index)
            }
            size += chunk.bytes.count
            progress.yield(chunk.bytes.count)
        }
        stored[session.fileName] = size
        progress.finish()
    }
}

func makeChunks(seed: Int) -> [Chunk] {
    (0..<6).map { index in
        Chunk(index: index, bytes: (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 7 &+ index) })
    }
}

func receiveUploads(_ total: Int, log: ProgressLog) async -> (stored: Int, rejected: Int) {
    var blobs = BlobStore()
    var rejected = 0
    for id in 0..<total {
        let chunks = makeChunks(seed: id)
        var sums = chunks.map(\.checksum)
        if id % 6 == 4 {
            sums[4] ^= 0xff
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let session = UploadSession(id: id, fileName: "clip-\(id).mov", chunks: chunks)
        session.reportProgress(from: stream, to: log)
        do {
            try blobs.store(session, expecting: sums, progress: continuation)
        } catch {
            rejected += 1
        }
        if id % 12 == 0 { try? await Task.sleep(nanoseconds: 40_000_000) }
    }
    return (blobs.stored.count, rejected)
}

let log = ProgressLog()
let outcome = await receiveUploads(240, log: log)
for _ in 0..<20 where log.count < outcome.stored {
    try await Task.sleep(nanoseconds: 20_000_000)
}
print("stored \(outcome.stored), rejected \(outcome.rejected), reported \(log.count)")
