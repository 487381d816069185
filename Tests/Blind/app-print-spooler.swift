import Foundation
import Dispatch

final class PrintJob {
    let id: Int
    let user: String
    let pages: Int
    var printed = 0
    var scratchFile: ScratchFile?
    init(id: Int, user: String, pages: Int) {
        self.id = id
        self.user = user
        self.pages = pages
    }
}

final class ScratchFile {
    let name: String
    let size: Int
    init(name: String, size: Int) {
        self.name = name
        self.size = size
    }
}

final class CleanUp {
    private var actions: [() -> Int] = []
    func later(_ action: @escaping () -> Int) { actions.append(action) }
    func perform() -> (count: Int, bytes: Int) {
        var bytes = 0
        let count = actions.count
        while let action = actions.popLast() { bytes += action() }
        return (count, bytes)
    }
}

final class Printer {
    let name: String
    private let speed: Int
    private var current: PrintJob?
    private var queue: [PrintJob] = []
    private(set) var pages = 0

    init(name: String, speed: Int) {
        self.name = name
        self.speed = speed
    }

    func add(_ job: PrintJob) { queue.append(job) }

    func step() -> PrintJob? {
        if current == nil, !queue.isEmpty { current = queue.removeFirst() }
        guard let job = current else { return nil }
        let now = min(speed, job.pages - job.printed)
        job.printed += now
        pages += now
        guard job.printed == job.pages else { return nil }
        current = nil
        return job
    }

    var load: Int { queue.reduce(current.map { $0.pages - $0.printed } ?? 0) { $0 + $1.pages } }
    var isIdle: Bool { current == nil && queue.isEmpty }
}

final class Spooler {
    private let queue = DispatchQueue(label: "spooler")
    private let printers: [Printer]
    private let cleanUp = CleanUp()
    private var timer: DispatchSourceTimer?
    private var finished = 0
    private var quota: [String: Int] = [:]

    init(printers: [Printer]) { self.printers = printers }

    func start() {
        queue.sync {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(6))
            timer.setEventHandler { [weak self] in self?.tick() }
            timer.resume()
            self.timer = timer
        }
    }

    func submit(_ job: PrintJob) {
        queue.async { [self] in
            let file = ScratchFile(name: "/tmp/spool-\(job.id)", size: job.pages * 900)
            job.scratchFile = file
            quota[job.user, default: 0] += job.pages
            if job.id % 12 == 0 {
                cleanUp.later { file.size }
            }
            printers.min { $0.load < $1.load }?.add(job)
        }
    }

    private func tick() {
        for printer in printers {
            if let job = printer.step() {
                finished += 1
                job.scratchFile = nil
            }
        }
    }

    var isIdle: Bool { queue.sync { printers.allSatisfy(\.isIdle) } }

    func stop() {
        queue.sync {
            timer?.cancel()
            timer = nil
            let result = cleanUp.perform()
            print("finished \(finished), cleaned \(result.count) files of \(result.bytes) bytes")
            print(printers.map { "\($0.name): \($0.pages)" }.joined(separator: ", "))
            print("largest quota: \(quota.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? "-")")
        }
    }
}

final class StatusPage {
    private var lines: [String] = []
    private let lock = NSLock()
    func run() -> Task<Void, Never> {
        Task {
            var beat = 0
            while !Task.isCancelled {
                beat += 1
                self.append("beat \(beat)")
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }
    private func append(_ line: String) {
        lock.lock()
        lines.append(line)
        if lines.count > 10 { lines.removeFirst() }
        lock.unlock()
    }
    var last: String {
        lock.lock()
        defer { lock.unlock() }
        return lines.isEmpty ? "none" : "up"
    }
}

func office() {
    let spooler = Spooler(printers: [Printer(name: "laser", speed: 4), Printer(name: "ink", speed: 2), Printer(name: "plotter", speed: 3)])
    let status = StatusPage()
    let task = status.run()
    spooler.start()
    for id in 0..<380 {
        spooler.submit(PrintJob(id: id, user: "user\(id * 7 % 18)", pages: 1 + id * 5 % 9))
        usleep(4500)
    }
    while !spooler.isIdle { usleep(10_000) }
    spooler.stop()
    print("status \(status.last), running \(!task.isCancelled)")
}

office()
