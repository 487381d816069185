import Foundation
import Synchronization

final class Upload: Sendable {
    let file: String
    let tail: [UInt8]
    init(file: String, tail: [UInt8]) {
        self.file = file
        self.tail = tail
    }
}

enum LegacyHasher {
    static let queue = DispatchQueue(label: "hasher")

    static func hash(_ bytes: [UInt8], completion: @escaping @Sendable (UInt64) -> Void) {
        queue.async {
            guard !bytes.isEmpty else { return }
            var h: UInt64 = 0xcbf29ce484222325
            for b in bytes { h = (h ^ UInt64(b)) &* 0x100000001b3 }
            completion(h)
        }
    }
}

final class BlobStore: Sendable {
    static let shared = BlobStore()
    let started = Atomic<Int>(0)
    let committed = Atomic<Int>(0)

    func put(_ upload: Upload) async -> Int {
        started.add(1, ordering: .relaxed)
        await Task.yield()
        return upload.tail.count
    }

    func commit(_ file: String, hash: UInt64, size: Int) {
        committed.add(1, ordering: .relaxed)
    }
}

struct Uploader {
    private func checksum(of upload: Upload) async -> UInt64 {
        await withUnsafeContinuation { continuation in
            LegacyHasher.hash(upload.tail) { continuation.resume(returning: $0) }
        }
    }

    private func send(_ upload: Upload) async {
        async let hash = checksum(of: upload)
        async let size = BlobStore.shared.put(upload)
        let (h, n) = await (hash, size)
        BlobStore.shared.commit(upload.file, hash: h, size: n)
    }

    func startUploads(_ folder: String, count: Int) {
        for n in 0..<count {
            let length = (n % 5 == 4) ? 0 : 100 + n
            let upload = Upload(file: "\(folder)/part-\(n)", tail: [UInt8](repeating: 7, count: length))
            Task { await send(upload) }
        }
    }
}

@main
struct BackupTool {
    static func main() async throws {
        let uploader = Uploader()
        for round in 1...5 {
            uploader.startUploads("backup-\(round)", count: 20)
            while BlobStore.shared.started.load(ordering: .relaxed) < round * 20
                    || BlobStore.shared.committed.load(ordering: .relaxed) < round * 16 {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await Task.sleep(for: .milliseconds(150))
        print("committed", BlobStore.shared.committed.load(ordering: .relaxed))
    }
}
