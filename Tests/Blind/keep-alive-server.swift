import Foundation
import Dispatch

let timerQueue = DispatchQueue(label: "keepalive")

final class DeviceProfile {
    let model: String
    let wantsKeepAlive: Bool
    init(model: String, wantsKeepAlive: Bool) {
        self.model = model
        self.wantsKeepAlive = wantsKeepAlive
    }
}

final class DeviceConnection {
    let id: Int
    private let profile: DeviceProfile
    private var timer: DispatchSourceTimer?
    private var outbox: [String] = []
    private var pings = 0
    private var isOpen = true

    init(id: Int, profile: DeviceProfile) {
        self.id = id
        self.profile = profile
    }

    func open() {
        if profile.wantsKeepAlive { startKeepAlive() }
        outbox.append("HELLO \(profile.model)")
    }

    private func startKeepAlive() {
        let timer = DispatchSource.makeTimerSource(queue: timerQueue)
        timer.schedule(deadline: .now() + .milliseconds(5), repeating: .milliseconds(5))
        timer.setEventHandler {
            if self.isOpen { self.pings += 1 }
        }
        timer.resume()
        self.timer = timer
    }

    func send(_ text: String) { outbox.append(text) }

    func close() -> Int {
        timerQueue.sync { isOpen = false }
        let count = outbox.count
        outbox.removeAll()
        return count
    }
}

final class DeviceServer {
    private var connections: [Int: DeviceConnection] = [:]
    private(set) var sent = 0

    func connect(_ id: Int, profile: DeviceProfile) {
        let connection = DeviceConnection(id: id, profile: profile)
        connections[id] = connection
        connection.open()
    }

    func broadcast(_ text: String) {
        for connection in connections.values { connection.send(text) }
    }

    func disconnect(_ id: Int) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        sent += connection.close()
    }

    var count: Int { connections.count }
}

let server = DeviceServer()
let sensor = DeviceProfile(model: "sensor", wantsKeepAlive: false)
let gateway = DeviceProfile(model: "gateway", wantsKeepAlive: true)

for round in 0..<3 {
    let ids = (0..<4).map { round * 4 + $0 }
    for id in ids {
        server.connect(id, profile: id % 4 == 1 ? gateway : sensor)
    }
    for n in 0..<5 {
        server.broadcast("config \(n)")
        usleep(3000)
    }
    for id in ids { server.disconnect(id) }
}
print("sent \(server.sent) connected \(server.count)")
