import Foundation

struct FileEntry {
    let path: String
    let bytes: Int
}

final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var beats: [String: Int] = [:]
    private var retired: [String] = []

    func beat(_ name: String) {
        lock.withLock { beats[name, default: 0] += 1 }
    }

    func retire(_ name: String) {
        lock.withLock { retired.append(name) }
    }

    func beats(of name: String) -> Int {
        lock.withLock { beats[name] ?? 0 }
    }

    var retiredNames: [String] { lock.withLock { retired.sorted() } }
}

final class Ticker: @unchecked Sendable {
    let name: String
    let period: Duration
    private let journal: Journal
    private let lock = NSLock()
    private var stopping = false

    init(name: String, period: Duration, journal: Journal) {
        self.name = name
        self.period = period
        self.journal = journal
    }

    func start() {
        Task.detached {
            while !self.shouldStop {
                self.journal.beat(self.name)
                try? await Task.sleep(for: self.period)
            }
            self.journal.retire(self.name)
        }
    }

    func stop() {
        lock.withLock { stopping = true }
    }

    private var shouldStop: Bool { lock.withLock { stopping } }
}

final class BackupDaemon {
    let journal = Journal()
    private var reports: [(job: String, crc: Int)] = []

    init() {
        Ticker(name: "daemon", period: .milliseconds(10), journal: journal).start()
    }

    func backUp(_ job: String, files: [FileEntry]) async {
        let ticker = Ticker(name: job, period: .milliseconds(4), journal: journal)
        ticker.start()
        defer { ticker.stop() }
        var crc = 0
        for file in files {
            crc = checksum(file, seed: crc)
            await Task.yield()
        }
        while journal.beats(of: job) < 2 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        reports.append((job, crc))
    }

    private func checksum(_ file: FileEntry, seed: Int) -> Int {
        var value = seed ^ file.bytes
        for byte in file.path.utf8 {
            value = (value &* 33 &+ Int(byte)) & 0xFFFF
        }
        return value
    }

    var summary: String {
        reports.map { "\($0.job):\(String($0.crc, radix: 16))" }.joined(separator: " ")
    }

    var jobs: Int { reports.count }
}

let daemon = BackupDaemon()
for day in ["mon", "tue", "wed", "thu", "fri", "sat", "sun", "month", "year"] {
    let files = (1...40).map { FileEntry(path: "/srv/\(day)/\($0).dat", bytes: $0 * 1024) }
    await daemon.backUp(day, files: files)
}
while daemon.journal.retiredNames.count < daemon.jobs || daemon.journal.beats(of: "daemon") < 5 {
    try? await Task.sleep(for: .milliseconds(3))
}
try? await Task.sleep(for: .milliseconds(20))
print(daemon.summary)
print("jobs \(daemon.jobs), tickers stopped \(daemon.journal.retiredNames.count), daemon alive")
