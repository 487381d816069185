import Foundation
import Synchronization

final class PresenceBoard: Sendable {
    private let lastSeen = Mutex<[Int: Int]>([:])

    func mark(_ device: Int, beat: Int) {
        lastSeen.withLock { $0[device] = beat }
    }

    func clear(_ device: Int) {
        lastSeen.withLock { _ = $0.removeValue(forKey: device) }
    }

    func beats(of device: Int) -> Int {
        lastSeen.withLock { $0[device] ?? 0 }
    }
}

final class DeviceLink: Sendable {
    let id: Int
    let model: String
    let certificate: [UInt8]
    private let enabled = Atomic<Bool>(true)
    private let stopped = Atomic<Bool>(false)

    init(id: Int, model: String) {
        self.id = id
        self.model = model
        certificate = Array(repeating: UInt8(truncatingIfNeeded: id), count: 512)
    }

    var isEnabled: Bool {
        get { enabled.load(ordering: .acquiring) }
        set { enabled.store(newValue, ordering: .releasing) }
    }

    var hasStopped: Bool { stopped.load(ordering: .acquiring) }

    func startBeacon(board: PresenceBoard) {
        Task.detached(priority: .background) {
            var beat = 0
            while self.isEnabled {
                beat += 1
                board.mark(self.id, beat: beat)
                try? await Task.sleep(nanoseconds: 15_000_000)
            }
            self.stopped.store(true, ordering: .releasing)
        }
    }
}

final class PresenceServer {
    let board = PresenceBoard()
    private var links: [Int: DeviceLink] = [:]
    private(set) var log: [String: Int] = [:]

    func attach(id: Int, model: String) {
        let link = DeviceLink(id: id, model: model)
        links[id] = link
        link.startBeacon(board: board)
        log["attached", default: 0] += 1
    }

    func signOut(_ id: Int) async {
        guard let link = links[id] else { return }
        link.isEnabled = false
        while !link.hasStopped {
            try? await Task.sleep(nanoseconds: 2_000_000)
        }
        links[id] = nil
        board.clear(id)
        log["signed out", default: 0] += 1
    }

    func drop(_ id: Int) {
        guard links.removeValue(forKey: id) != nil else { return }
        board.clear(id)
        log["dropped", default: 0] += 1
    }

    var connected: [Int] { links.keys.sorted() }
}

let server = PresenceServer()
let models = ["lamp", "lock", "thermostat", "camera", "blind"]
for id in 1...70 {
    server.attach(id: id, model: models[id % models.count])
}

var ready = 0
while ready < 70 {
    try? await Task.sleep(nanoseconds: 5_000_000)
    ready = server.connected.filter { server.board.beats(of: $0) >= 1 }.count
}
print("all \(ready) devices reported")

for id in server.connected where id % 7 == 0 || id % 7 == 3 {
    await server.signOut(id)
}
print("still connected: \(server.connected.count)")

for id in server.connected {
    server.drop(id)
}
try? await Task.sleep(for: .milliseconds(30))
for (event, count) in server.log.sorted(by: { $0.key < $1.key }) {
    print("\(event): \(count)")
}
