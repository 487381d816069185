import Foundation

/// The shape of the storage driver's C interface.
typealias CompletionFunction = @convention(c) (_ context: UnsafeMutableRawPointer, _ status: Int32, _ bytes: Int) -> Void

struct Submission {
    let offset: Int
    let length: Int
    let attempt: Int
    let context: UnsafeMutableRawPointer
    let completion: CompletionFunction
}

final class Driver {
    private let condition = NSCondition()
    private var submissions: [Submission] = []
    private var stopping = false
    private var thread = pthread_t()

    func launch() {
        let context = Unmanaged.passRetained(self).toOpaque()
        let status = pthread_create(&thread, nil, { argument in
            Unmanaged<Driver>.fromOpaque(argument!).takeRetainedValue().serve()
            return nil
        }, context)
        precondition(status == 0)
    }

    func submit(_ submission: Submission) {
        condition.lock()
        submissions.append(submission)
        condition.signal()
        condition.unlock()
    }

    func stop() {
        condition.lock()
        stopping = true
        condition.signal()
        condition.unlock()
        pthread_join(thread, nil)
    }

    private func next() -> Submission? {
        condition.lock()
        defer { condition.unlock() }
        while submissions.isEmpty {
            if stopping { return nil }
            condition.wait()
        }
        return submissions.removeFirst()
    }

    private func serve() {
        while let submission = next() {
            let busy = submission.attempt == 0 && (submission.offset / 4096) % 7 == 3
            submission.completion(submission.context, busy ? EAGAIN : 0, busy ? 0 : submission.length)
        }
    }
}

final class Batch {
    private let group = DispatchGroup()
    private let lock = NSLock()
    private(set) var bytes = 0
    private(set) var attempts = 0

    func enter() { group.enter() }

    func leave(bytes count: Int, attempts tries: Int) {
        lock.lock()
        bytes += count
        attempts += tries
        lock.unlock()
        group.leave()
    }

    func wait() { group.wait() }
}

let onTransferDone: CompletionFunction = { context, status, bytes in
    let handle = Unmanaged<TransferJob>.fromOpaque(context)
    if status == EAGAIN {
        handle.takeUnretainedValue().retry()
        return
    }
    handle.takeRetainedValue().finish(bytes: bytes)
}

final class TransferJob {
    let number: Int
    private let driver: Driver
    private var batch: Batch?
    private var attempts = 0
    private var buffer: [UInt8]

    init(number: Int, driver: Driver, batch: Batch) {
        self.number = number
        self.driver = driver
        self.batch = batch
        buffer = Array(repeating: UInt8(truncatingIfNeeded: number), count: 512)
    }

    func start() {
        let context = Unmanaged.passRetained(self).toOpaque()
        driver.submit(Submission(offset: number * 4096, length: buffer.count, attempt: attempts,
                                 context: context, completion: onTransferDone))
    }

    func retry() {
        attempts += 1
        start()
    }

    func finish(bytes: Int) {
        attempts += 1
        buffer.removeAll()
        let owner = batch
        batch = nil
        owner?.leave(bytes: bytes, attempts: attempts)
    }
}

let driver = Driver()
driver.launch()
var moved = 0
var attempts = 0
for round in 0..<40 {
    let batch = Batch()
    for i in 0..<12 {
        batch.enter()
        TransferJob(number: round * 12 + i, driver: driver, batch: batch).start()
    }
    batch.wait()
    moved += batch.bytes
    attempts += batch.attempts
    usleep(13_000)
}
driver.stop()
print("moved \(moved) bytes in \(attempts) attempts")
