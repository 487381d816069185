import Foundation

actor CodecServer {
    private var seats: [String: Int]
    private(set) var refusals = 0

    init(seats: [String: Int]) {
        self.seats = seats
    }

    func checkOut(_ codec: String) -> Bool {
        guard let free = seats[codec], free > 0 else {
            refusals += 1
            return false
        }
        seats[codec] = free - 1
        return true
    }

    func checkIn(_ codec: String) {
        seats[codec, default: 0] += 1
    }
}

final class ClipJob: @unchecked Sendable {
    let clip: Int
    let codec: String
    private var samples: [UInt8]

    init(clip: Int, codec: String) {
        self.clip = clip
        self.codec = codec
        self.samples = [UInt8](repeating: 0, count: 4096)
    }

    func encode(with server: CodecServer) async throws -> Int {
        while await !server.checkOut(codec) {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(40))
        }
        for i in samples.indices {
            samples[i] = UInt8(truncatingIfNeeded: (i * i + clip * 13) >> 4)
        }
        try? await Task.sleep(for: .milliseconds(3))
        await server.checkIn(codec)
        return samples.reduce(0) { $0 + Int($1) }
    }
}

actor EncodeQueue {
    private let server: CodecServer
    private var running: [Int: Task<Void, Never>] = [:]
    private(set) var finished = 0
    private(set) var expired = 0
    private(set) var aborted = 0
    private(set) var checksum = 0

    init(server: CodecServer) {
        self.server = server
    }

    func submit(clip: Int, codec: String) {
        let job = ClipJob(clip: clip, codec: codec)
        running[clip] = Task {
            do {
                complete(job.clip, sum: try await job.encode(with: server))
            } catch {
                aborted += 1
            }
        }
    }

    private func complete(_ clip: Int, sum: Int) {
        guard running.removeValue(forKey: clip) != nil else { return }
        finished += 1
        checksum += sum
    }

    func expireAll() {
        for (clip, task) in running {
            task.cancel()
            running[clip] = nil
            expired += 1
        }
    }

    var pending: Int { running.count }
}

@main
struct Encoder {
    static func main() async throws {
        let server = CodecServer(seats: ["h264": 4, "opus": 3])
        let queue = EncodeQueue(server: server)
        for reel in 0..<6 {
            for n in 0..<10 {
                let codec = n < 5 ? "h264" : (n < 7 ? "opus" : "prores")
                await queue.submit(clip: reel * 100 + n, codec: codec)
            }
            while await queue.pending > 3 {
                try await Task.sleep(for: .milliseconds(10))
            }
            try await Task.sleep(for: .milliseconds(60))
            await queue.expireAll()
        }
        try await Task.sleep(for: .milliseconds(120))
        print("finished \(await queue.finished), expired \(await queue.expired), aborted \(await queue.aborted), checksum \(await queue.checksum)")
    }
}
