import Foundation
import Dispatch

final class Payload {
    let bytes: [UInt8]
    init(size: Int) { bytes = (0..<size).map { UInt8($0 & 0xff) } }
    var checksum: Int { bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } }
}

final class Endpoint {
    private(set) var received = 0
    private(set) var checksum = 0
    func offer(_ p: Payload, id: Int, attempt: Int) -> Bool {
        if id % 15 == 14 { return false }       // this destination is down all day
        guard attempt > id % 4 else { return false }
        received += 1
        checksum = (checksum + p.checksum) & 0xffff
        return true
    }
}

final class RetryJob {
    private let id: Int
    private let payload: Payload
    private let endpoint: Endpoint
    private var attempt = 0
    private var timer: DispatchSourceTimer?

    private init(id: Int, payload: Payload, endpoint: Endpoint) {
        self.id = id; self.payload = payload; self.endpoint = endpoint
    }

    /// The job lives until its upload is done.
    static func launch(id: Int, payload: Payload, endpoint: Endpoint, on queue: DispatchQueue) {
        let job = RetryJob(id: id, payload: payload, endpoint: endpoint)
        let t = DispatchSource.makeTimerSource(queue: queue)
        job.timer = t
        t.schedule(deadline: .now() + .milliseconds(2), repeating: .milliseconds(10))
        t.setEventHandler { job.fire() }
        t.resume()
    }

    private func fire() {
        attempt += 1
        if endpoint.offer(payload, id: id, attempt: attempt) {
            timer?.cancel()
            timer = nil
        }
    }
}

final class Uploader {
    private let queue = DispatchQueue(label: "uploads")
    private let endpoint = Endpoint()
    private var launched = 0
    func upload(_ n: Int) {
        for _ in 0..<n {
            RetryJob.launch(id: launched, payload: Payload(size: 200 + launched), endpoint: endpoint, on: queue)
            launched += 1
        }
    }
    func status() -> (Int, Int) { queue.sync { (launched, endpoint.received) } }
}

@main
enum App {
    static let uploader = Uploader()
    static func main() {
        for _ in 0..<6 {
            uploader.upload(15)
            Thread.sleep(forTimeInterval: 0.06)
        }
        Thread.sleep(forTimeInterval: 0.15)
        let (launched, received) = uploader.status()
        print("launched \(launched) uploaded \(received) still trying \(launched - received)")
    }
}
