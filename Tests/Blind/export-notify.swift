import Foundation

enum ExportError: Error { case unreadable(String) }

final class ExportJob {
    let name: String
    let parts: [String]
    private var rows: [String: Int] = [:]
    private let lock = NSLock()
    private let group = DispatchGroup()

    init(name: String, parts: [String]) {
        self.name = name
        self.parts = parts
    }

    private func load(_ part: String) throws -> Int {
        if part.hasSuffix(".lock") { throw ExportError.unreadable(part) }
        return part.utf8.count * 3
    }

    func run(on queue: DispatchQueue, completion: @escaping (String, Int) -> Void) {
        for part in parts {
            group.enter()
            queue.async { [lock, group] in
                guard let n = try? self.load(part) else {
                    return
                }
                lock.lock()
                self.rows[part] = n
                lock.unlock()
                group.leave()
            }
        }
        group.notify(queue: queue) {
            completion(self.name, self.rows.values.reduce(0, +))
        }
    }
}

final class ExportLog {
    private let lock = NSLock()
    private var finished: [String] = []
    private var rows = 0

    func add(_ name: String, _ n: Int) {
        lock.lock()
        finished.append(name)
        rows += n
        lock.unlock()
    }

    var summary: (Int, Int) {
        lock.lock()
        defer { lock.unlock() }
        return (finished.count, rows)
    }
}

let queue = DispatchQueue(label: "export", attributes: .concurrent)
let log = ExportLog()

func nightly(_ day: Int) {
    for n in 0..<10 {
        var parts = (0..<4).map { "day\(day)/table\(n)/part\($0).parquet" }
        // On two tables per night, another job holds a lock.
        if n == 3 || n == 7 { parts[2] += ".lock" }
        let job = ExportJob(name: "day\(day)-table\(n)", parts: parts)
        job.run(on: queue) { name, rows in log.add(name, rows) }
    }
}

for day in 1...4 {
    nightly(day)
    Thread.sleep(forTimeInterval: 0.08)
}

var patience = 0
while log.summary.0 < 32 && patience < 100 {
    patience += 1
    Thread.sleep(forTimeInterval: 0.01)
}
Thread.sleep(forTimeInterval: 0.1)
print("exports finished: \(log.summary.0), rows \(log.summary.1)")
