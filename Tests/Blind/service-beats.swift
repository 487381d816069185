import Foundation

final class Beat {
    let number: Int
    let sender: String
    init(number: Int, sender: String) { self.number = number; self.sender = sender }
}

final class Heartbeat {
    let name: String
    private var timer: Timer?
    private(set) var last: Beat?
    private(set) var count = 0
    init(name: String) { self.name = name }

    func start(every seconds: Double) {
        let t = Timer(timeInterval: seconds, repeats: true) { [weak self] _ in self?.fire() }
        RunLoop.main.add(t, forMode: .default)
        timer = t
    }
    private func fire() {
        count += 1
        last = Beat(number: count, sender: name)
    }
    func stop() {
        timer?.invalidate()
        timer = nil
    }
    deinit { timer?.invalidate() }
}

final class ServiceHost {
    private var beats: [String: Heartbeat] = [:]
    private(set) var retired = 0
    func launch(_ name: String, every: Double) {
        let h = Heartbeat(name: name)
        h.start(every: every)
        beats[name] = h
    }
    func retire(_ name: String) -> Int {
        guard let h = beats.removeValue(forKey: name) else { return 0 }
        h.stop()
        retired += 1
        return h.count
    }
    var running: Int { beats.count }
    var total: Int { beats.values.reduce(0) { $0 + $1.count } }
    var silent: Int { beats.values.filter { $0.last == nil }.count }
}

let host = ServiceHost()
var finished = 0
for (i, name) in ["mail", "search", "billing", "images", "export", "audit"].enumerated() {
    host.launch(name, every: 0.01 + Double(i) * 0.002)
}
for round in 0..<10 {
    for i in 0..<5 { host.launch("job-\(round)-\(i)", every: 0.005) }
    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.03))
    for i in 0..<5 { finished += host.retire("job-\(round)-\(i)") }
}
print("running \(host.running) retired \(host.retired) beats \(host.total > 20 && finished > 50 ? "ok" : "few") silent \(host.silent)")
