import Foundation

struct LeaseToken: Hashable {
    let worker: Int
    let nonce: UInt64
}

enum JobState {
    case queued, running, succeeded, failed, cancelled
}

final class BuildLog {
    private var lines: [String] = []
    func append(_ line: String) { lines.append(line) }
    var checksum: UInt32 {
        var hash: UInt32 = 2_166_136_261
        for line in lines {
            for byte in line.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        }
        return hash
    }
}

final class BuildJob {
    let id: Int
    let target: String
    let log: BuildLog
    var state = JobState.queued
    var lease: LeaseToken?
    var heartbeats = 0

    init(id: Int, target: String) {
        self.id = id
        self.target = target
        self.log = BuildLog()
    }
}

struct NonceSource {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

final class Coordinator {
    private var jobsByID: [Int: BuildJob] = [:]
    private var jobsByLease: [LeaseToken: BuildJob] = [:]
    private var queue: [Int] = []
    private var nonces = NonceSource()
    private(set) var finished = 0
    private(set) var cancelled = 0
    private(set) var digest: UInt32 = 0

    func submit(id: Int, target: String) {
        jobsByID[id] = BuildJob(id: id, target: target)
        queue.append(id)
    }

    func lease(to worker: Int) -> (LeaseToken, Int)? {
        while !queue.isEmpty {
            let id = queue.removeFirst()
            guard let job = jobsByID[id], job.state == .queued else { continue }
            let token = LeaseToken(worker: worker, nonce: nonces.next())
            job.state = .running
            job.lease = token
            jobsByLease[token] = job
            return (token, id)
        }
        return nil
    }

    func heartbeat(_ token: LeaseToken, line: String) -> Bool {
        guard let job = jobsByLease[token], job.state == .running else { return false }
        job.heartbeats += 1
        job.log.append("[\(job.target)] \(line)")
        return true
    }

    func finish(id: Int, success: Bool) {
        guard let job = jobsByID.removeValue(forKey: id) else { return }
        job.state = success ? .succeeded : .failed
        digest = digest &* 31 &+ job.log.checksum
        finished += 1
    }

    func cancel(id: Int) {
        guard let job = jobsByID.removeValue(forKey: id) else { return }
        if let token = job.lease {
            jobsByLease.removeValue(forKey: token)
        }
        job.state = .cancelled
        cancelled += 1
    }

    var open: Int { jobsByID.count }
}

struct Worker {
    let number: Int

    func work(for coordinator: Coordinator) {
        guard let (token, id) = coordinator.lease(to: number) else { return }
        for step in ["fetch", "configure", "compile", "test"] {
            if id % 5 == 0 && step == "compile" {
                coordinator.cancel(id: id)
            }
            guard coordinator.heartbeat(token, line: "\(step) on worker \(number)") else { return }
            usleep(150)
        }
        coordinator.finish(id: id, success: id % 11 != 0)
    }
}

let coordinator = Coordinator()
let workers = (1...4).map(Worker.init(number:))
let targets = ["core", "net", "ui", "tools", "docs"]
var submitted = 0

while submitted < 640 {
    for _ in 0..<4 {
        submitted += 1
        coordinator.submit(id: submitted, target: targets[submitted % targets.count])
    }
    for worker in workers {
        worker.work(for: coordinator)
    }
}
print("finished \(coordinator.finished), cancelled \(coordinator.cancelled), open \(coordinator.open)")
print("digest \(String(coordinator.digest, radix: 16))")
