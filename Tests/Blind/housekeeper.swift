import Foundation

final class Session {
    let user: String
    var lastSeen: Int
    let cart: [String]

    init(user: String, now: Int) {
        self.user = user
        lastSeen = now
        cart = (0..<10).map { "\(user)-item-\($0)" }
    }
}

final class SessionService {
    private let queue = DispatchQueue(label: "sessions")
    private let sweeper: DispatchSourceTimer
    private var sessions: [String: Session] = [:]
    private var clock = 0
    private var expired = 0

    init() {
        sweeper = DispatchSource.makeTimerSource(queue: queue)
        sweeper.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20))
        sweeper.setEventHandler { self.sweep() }
        sweeper.resume()
        scheduleDailyReport()
    }

    private func scheduleDailyReport() {
        queue.asyncAfter(deadline: .now() + 24 * 3600) {
            self.report()
            self.scheduleDailyReport()
        }
    }

    private func report() { expired = 0 }

    private func sweep() {
        clock += 1
        let old = sessions.values.filter { $0.lastSeen + 2 < clock }
        for session in old { sessions[session.user] = nil }
        expired += old.count
    }

    func touch(_ user: String) {
        queue.async {
            if let session = self.sessions[user] {
                session.lastSeen = self.clock
            } else {
                self.sessions[user] = Session(user: user, now: self.clock)
            }
        }
    }

    var counts: (live: Int, expired: Int) {
        queue.sync { (sessions.count, expired) }
    }
}

func renderAll(_ users: [String], then done: @escaping (Int) -> Void) {
    let group = DispatchGroup()
    let lock = NSLock()
    var bytes = 0
    for user in users {
        DispatchQueue.global().async(group: group) {
            lock.lock()
            bytes += "<h1>\(user)</h1>".utf8.count
            lock.unlock()
        }
    }
    group.notify(queue: .global()) { done(bytes) }
}

let service = SessionService()
let rendered = DispatchSemaphore(value: 0)

for round in 0..<8 {
    let users = (0..<25).map { "user\(round)-\($0)" }
    for user in users { service.touch(user) }
    renderAll(users) { bytes in
        if bytes > 0 { rendered.signal() }
    }
    rendered.wait()
    Thread.sleep(forTimeInterval: 0.06)
}

var patience = 0
while service.counts.live > 0 && patience < 100 {
    patience += 1
    Thread.sleep(forTimeInterval: 0.01)
}
print("sessions expired: \(service.counts.expired), live: \(service.counts.live)")
