import Foundation

final class LogRecord: @unchecked Sendable {
    let host: String
    let time: Int
    private(set) var message: String
    private(set) var lineCount = 1

    init(host: String, time: Int, message: String) {
        self.host = host
        self.time = time
        self.message = message
    }

    func append(continuation: String) {
        message += "\n" + continuation
        lineCount += 1
    }

    var fingerprint: String { "\(host)|\(message)" }
}

final class SourceCursor: Sendable {
    let host: String
    init(host: String) { self.host = host }

    func record(_ n: Int) -> LogRecord {
        let number = n % 6 == 4 ? n - 1 : n
        return LogRecord(host: host, time: n, message: "request \(number) served in \(number % 90) ms")
    }

    func trace(_ n: Int) -> [String] {
        n % 20 == 7 ? ["  at handler.process(\(n))", "  at server.loop"] : []
    }
}

actor Merger {
    private var recent: [String: LogRecord] = [:]
    private var queue: [LogRecord] = []
    private var lastByHost: [String: LogRecord] = [:]
    private let window: Int
    private(set) var duplicates = 0
    private(set) var written = 0
    private(set) var lines = 0

    init(window: Int) { self.window = window }

    func accept(_ record: LogRecord) {
        expire(before: record.time - window)
        if recent[record.fingerprint] != nil {
            duplicates += 1
            return
        }
        recent[record.fingerprint] = record
        queue.append(record)
        lastByHost[record.host] = record
    }

    func continueLast(of host: String, with line: String) {
        lastByHost[host]?.append(continuation: line)
    }

    private func expire(before time: Int) {
        while let oldest = queue.first, oldest.time < time {
            queue.removeFirst()
            write(oldest)
        }
    }

    private func write(_ record: LogRecord) {
        recent.removeValue(forKey: record.fingerprint)
        written += 1
        lines += record.lineCount
    }

    func close() {
        expire(before: Int.max)
        lastByHost.removeAll()
    }
}

let merger = Merger(window: 60)

@main
struct MergeTool {
    static func read(_ cursor: SourceCursor, into merger: Merger, count: Int) async {
        for n in 0..<count {
            await merger.accept(cursor.record(n))
            for line in cursor.trace(n) { await merger.continueLast(of: cursor.host, with: line) }
            if n % 2 == 0 { try? await Task.sleep(nanoseconds: 2_000_000) }
        }
    }

    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            for host in ["web-1", "web-2", "api-1"] {
                group.addTask { await read(SourceCursor(host: host), into: merger, count: 600) }
            }
        }
        await merger.close()
        print("written \(await merger.written) records, \(await merger.lines) lines")
        print("duplicates \(await merger.duplicates)")
    }
}
