import Foundation
import Synchronization

/// A tiny unbuffered-ish channel; one producer, one consumer.
final class LineChannel: @unchecked Sendable, AsyncSequence {
    typealias Element = String
    private let lock = NSLock()
    private var buffer: [String] = []
    private var waiter: UnsafeContinuation<String?, Never>?
    private var finished = false

    struct Iterator: AsyncIteratorProtocol {
        let channel: LineChannel
        mutating func next() async -> String? { await channel.pop() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(channel: self) }

    func push(_ line: String) {
        lock.withLock {
            if let w = waiter {
                waiter = nil
                w.resume(returning: line)
            } else {
                buffer.append(line)
            }
        }
    }

    func finish() {
        lock.withLock {
            finished = true
            waiter?.resume(returning: nil)
            waiter = nil
        }
    }

    private func pop() async -> String? {
        await withUnsafeContinuation { continuation in
            lock.withLock {
                if !buffer.isEmpty {
                    continuation.resume(returning: buffer.removeFirst())
                } else if finished {
                    continuation.resume(returning: nil)
                } else {
                    waiter = continuation
                }
            }
        }
    }
}

let linesSeen = Atomic<Int>(0)
let consumersDone = Atomic<Int>(0)

final class LogTailer {
    let path: String
    private let channel = LineChannel()
    private var offset = 0

    init(path: String) { self.path = path }

    func follow() {
        let channel = self.channel
        Task {
            for await line in channel where !line.isEmpty {
                linesSeen.add(1, ordering: .relaxed)
            }
            consumersDone.add(1, ordering: .relaxed)
        }
    }

    func read(lines: Int) {
        for _ in 0..<lines {
            offset += 1
            channel.push("\(path):\(offset) INFO request served")
        }
    }

    func close() { channel.finish() }
}

@main
struct LogShipper {
    static func main() async throws {
        for round in 0..<5 {
            var tailers = (0..<12).map { LogTailer(path: "/var/log/app\($0).log.\(round)") }
            for tailer in tailers { tailer.follow() }
            for tailer in tailers { tailer.read(lines: 10) }
            try await Task.sleep(for: .milliseconds(40))
            // Four files were rotated away; the others reach their end.
            tailers.removeFirst(4)
            for tailer in tailers { tailer.close() }
            try await Task.sleep(for: .milliseconds(20))
        }
        while linesSeen.load(ordering: .relaxed) < 600 || consumersDone.load(ordering: .relaxed) < 40 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("lines shipped:", linesSeen.load(ordering: .relaxed))
    }
}
