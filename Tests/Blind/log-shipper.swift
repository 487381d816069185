// Ships structured log lines from several worker threads to a remote collector.
import Foundation

final class LogLine {
    let origin: Int
    let text: String
    var next: LogLine?

    init(origin: Int, text: String) {
        self.origin = origin
        self.text = text
    }
}

final class LineQueue: @unchecked Sendable {
    private var head: LogLine?
    private weak var tail: LogLine?
    private let condition = NSCondition()
    private var stopped = false

    func push(origin: Int, text: String) {
        let line = LogLine(origin: origin, text: text)
        condition.lock()
        if let tail { tail.next = line } else { head = line }
        tail = line
        condition.signal()
        condition.unlock()
    }

    func pop() -> LogLine? {
        condition.lock()
        defer { condition.unlock() }
        while head == nil && !stopped { condition.wait() }
        if stopped { return nil }
        let line = head
        head = line?.next
        line?.next = nil
        return line
    }

    func stop() {
        condition.lock()
        stopped = true
        condition.broadcast()
        condition.unlock()
    }
}

final class Collector: @unchecked Sendable {
    private(set) var received = 0
    private(set) var checksum: UInt64 = 14695981039346656037

    func upload(_ line: LogLine) {
        for byte in line.text.utf8 { checksum = (checksum ^ UInt64(byte)) &* 1099511628211 }
        received += 1
        usleep(1200)   // network round trip
    }
}

final class Shipper: @unchecked Sendable {
    private let queue: LineQueue
    private let collector: Collector
    private let done = DispatchSemaphore(value: 0)

    init(queue: LineQueue, collector: Collector) {
        self.queue = queue
        self.collector = collector
    }

    func start() {
        Thread { [self] in
            while let line = queue.pop() { collector.upload(line) }
            done.signal()
        }.start()
    }

    func stop() {
        queue.stop()
        done.wait()
    }
}

let queue = LineQueue()
let collector = Collector()
let shipper = Shipper(queue: queue, collector: collector)
shipper.start()

let workers = DispatchGroup()
for worker in 0..<4 {
    workers.enter()
    Thread {
        for n in 0..<250 {
            let level = n % 20 == 0 ? "WARN" : "INFO"
            queue.push(origin: worker, text: "\(level) worker=\(worker) op=\(n * 17 % 101) took=\(n % 9)ms")
            usleep(1000)
        }
        workers.leave()
    }.start()
}
workers.wait()
shipper.stop()
print("4 workers wrote 1000 lines")
print("collector received \(collector.received) lines")
