import Foundation

// Background uploader: reads queued files, splits them into parts and sends the parts to a bucket.

enum UploadError: Error {
    case quotaExceeded(bucket: String)
    case checksumMismatch(part: Int)
}

struct FileJob {
    let id: Int
    let bucket: String
    let size: Int
}

final class Transfer {
    let job: FileJob
    private var parts: [Data] = []
    private(set) var sent = 0

    init(job: FileJob, partSize: Int) {
        self.job = job
        var offset = 0
        while offset < job.size {
            let length = min(partSize, job.size - offset)
            parts.append(Data((0..<length).map { UInt8(truncatingIfNeeded: (job.id &* 17) ^ (offset + $0)) }))
            offset += length
        }
    }

    func nextPart() -> (index: Int, data: Data)? {
        guard sent < parts.count else { return nil }
        defer { sent += 1 }
        return (sent, parts[sent])
    }

    var fraction: Double { parts.isEmpty ? 1 : Double(sent) / Double(parts.count) }
}

actor Bucket {
    private var used: [String: Int] = [:]
    private let quota = 90_000

    func put(_ data: Data, bucket: String, part: Int) throws -> UInt32 {
        let total = used[bucket, default: 0] + data.count
        guard bucket != "archive" || total <= quota else { throw UploadError.quotaExceeded(bucket: bucket) }
        used[bucket] = total
        return adler(data)
    }
}

func adler(_ data: Data) -> UInt32 {
    var a: UInt32 = 1, b: UInt32 = 0
    for byte in data {
        a = (a + UInt32(byte)) % 65_521
        b = (b + a) % 65_521
    }
    return b << 16 | a
}

actor Uploader {
    private let bucket = Bucket()
    private var running: [Int: Transfer] = [:]
    private(set) var completed = 0
    private(set) var bytes = 0

    func upload(_ job: FileJob) async throws {
        let transfer = Transfer(job: job, partSize: 512)
        running[job.id] = transfer
        while let part = transfer.nextPart() {
            let remote = try await bucket.put(part.data, bucket: job.bucket, part: part.index)
            guard remote == adler(part.data) else { throw UploadError.checksumMismatch(part: part.index) }
            bytes += part.data.count
        }
        running[job.id] = nil
        completed += 1
    }

    func progress(of ids: Range<Int>) -> Double {
        let fractions = ids.compactMap { running[$0]?.fraction }
        return fractions.isEmpty ? 1 : fractions.reduce(0, +) / Double(fractions.count)
    }
}

struct Tally {
    var failures: [String: Int] = [:]

    mutating func record(_ error: Error) {
        switch error {
        case UploadError.quotaExceeded(let bucket): failures["quota \(bucket)", default: 0] += 1
        case UploadError.checksumMismatch: failures["checksum", default: 0] += 1
        default: failures["other", default: 0] += 1
        }
    }
}

@main
struct UploadDaemon {
    static let uploader = Uploader()

    static func main() async throws {
        var tally = Tally()
        var lowest = 1.0
        for round in 0..<110 {
            let ids = (round * 10)..<(round * 10 + 10)
            let errors = await withTaskGroup(of: Error?.self) { group in
                for id in ids {
                    let job = FileJob(id: id, bucket: id % 2 == 0 ? "media" : "archive", size: 1500)
                    group.addTask {
                        do { try await uploader.upload(job); return nil } catch { return error }
                    }
                }
                var failed: [Error] = []
                for await error in group { if let error { failed.append(error) } }
                return failed
            }
            errors.forEach { tally.record($0) }
            lowest = min(lowest, await uploader.progress(of: ids))
            try await Task.sleep(nanoseconds: 6_000_000)
        }
        print("completed \(await uploader.completed), bytes \(await uploader.bytes), lowest \(lowest)")
        print(tally.failures.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", "))
    }
}
