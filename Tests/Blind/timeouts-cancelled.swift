import Foundation
import Synchronization

let liveRequests = Atomic<Int>(0)

final class DatabaseRequest: @unchecked Sendable {
    let sql: String
    private var timer: DispatchSourceTimer?
    private var completion: ((String) -> Void)?
    private let lock = NSLock()

    init(sql: String, queue: DispatchQueue, completion: @escaping (String) -> Void) {
        self.sql = sql
        self.completion = completion
        liveRequests.add(1, ordering: .relaxed)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 3600)
        timer.setEventHandler { self.complete("timeout") }
        self.timer = timer
        timer.resume()
    }

    deinit { liveRequests.subtract(1, ordering: .relaxed) }

    func complete(_ rows: String) {
        lock.lock()
        let handler = completion
        completion = nil
        timer?.setEventHandler(handler: nil)
        timer?.cancel()
        timer = nil
        lock.unlock()
        handler?(rows)
    }
}

final class ConnectionPool: @unchecked Sendable {
    private let timers = DispatchQueue(label: "db.timers")
    private let io = DispatchQueue(label: "db.io", attributes: .concurrent)
    private let group = DispatchGroup()
    let answered = Atomic<Int>(0)

    func query(_ sql: String) {
        group.enter()
        let request = DatabaseRequest(sql: sql, queue: timers) { [group] rows in
            self.answered.add(rows.isEmpty ? 0 : 1, ordering: .relaxed)
            group.leave()
        }
        io.async { request.complete("rows of \(sql)") }
    }

    func wait() { group.wait() }
}

@main
struct ReportTool {
    static func main() {
        let pool = ConnectionPool()
        for page in 0..<10 {
            for n in 0..<20 { pool.query("SELECT * FROM t\(n) LIMIT 50 OFFSET \(page * 50)") }
            pool.wait()
            Thread.sleep(forTimeInterval: 0.03)
        }
        var patience = 0
        while liveRequests.load(ordering: .relaxed) > 0, patience < 50 {
            patience += 1
            Thread.sleep(forTimeInterval: 0.01)
        }
        Thread.sleep(forTimeInterval: 0.1)
        print("answered \(pool.answered.load(ordering: .relaxed)), live \(liveRequests.load(ordering: .relaxed))")
    }
}
