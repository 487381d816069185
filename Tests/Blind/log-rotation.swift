import Foundation

final class LogLine {
    let thread: Int
    let text: String
    init(thread: Int, text: String) {
        self.thread = thread
        self.text = text
    }
}

final class LogFile {
    let url: URL
    private let handle: FileHandle
    private(set) var bytes = 0

    init?(url: URL) {
        guard FileManager.default.createFile(atPath: url.path, contents: nil),
              let handle = FileHandle(forWritingAtPath: url.path) else { return nil }
        self.url = url
        self.handle = handle
    }

    func write(_ line: LogLine) {
        let data = Data("[\(line.thread)] \(line.text)\n".utf8)
        handle.write(data)
        bytes += data.count
    }

    func close() { try? handle.close() }
}

final class ArchivedLog {
    let url: URL
    let bytes: Int
    init(url: URL, bytes: Int) {
        self.url = url
        self.bytes = bytes
    }
}

final class RotatingLogger: @unchecked Sendable {
    private let condition = NSCondition()
    private var queue: [LogLine] = []
    private var open = true
    private var current: LogFile
    private var archive: [ArchivedLog] = []
    private(set) var removed = 0
    private let folder: URL
    private var counter = 0
    private let keep = 12

    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        current = LogFile(url: folder.appendingPathComponent("log-0.txt"))!
    }

    func log(_ line: LogLine) {
        condition.lock()
        queue.append(line)
        condition.signal()
        condition.unlock()
    }

    func stop() {
        condition.lock()
        open = false
        condition.broadcast()
        condition.unlock()
    }

    func drain() {
        while true {
            condition.lock()
            while queue.isEmpty && open { condition.wait() }
            let batch = queue
            queue.removeAll()
            let finished = !open
            condition.unlock()
            for line in batch { append(line) }
            if finished { return }
        }
    }

    private func append(_ line: LogLine) {
        current.write(line)
        guard current.bytes > 2000 else { return }
        current.close()
        archive.append(ArchivedLog(url: current.url, bytes: current.bytes))
        if archive.count > keep {
            try? FileManager.default.removeItem(at: archive.removeFirst().url)
            removed += 1
        }
        counter += 1
        current = LogFile(url: folder.appendingPathComponent("log-\(counter).txt"))!
    }

    func finish() -> Int {
        current.close()
        let total = archive.reduce(current.bytes) { $0 + $1.bytes }
        try? FileManager.default.removeItem(at: folder)
        return total
    }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rotation-\(getpid())")
let logger = try RotatingLogger(folder: folder)
let writerDone = DispatchSemaphore(value: 0)
let writer = Thread {
    logger.drain()
    writerDone.signal()
}
writer.start()
let producers = DispatchGroup()
for number in 0..<4 {
    producers.enter()
    Thread {
        for n in 0..<400 {
            logger.log(LogLine(thread: number, text: "request \(n) handled in \(n % 40) ms"))
            usleep(2000)
        }
        producers.leave()
    }.start()
}
producers.wait()
logger.stop()
writerDone.wait()
let kept = logger.finish()
print("files removed \(logger.removed)")
print("bytes kept \(kept > 20_000)")
