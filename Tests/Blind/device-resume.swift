import Foundation

final class Message {
    let offset: Int
    let text: String
    init(offset: Int, text: String) {
        self.offset = offset
        self.text = text
    }
}

final class DeviceSocket {
    let generation: Int
    private let predecessor: DeviceSocket?
    private(set) var unacknowledged: [Message] = []
    private(set) var sent = 0

    init(generation: Int, resuming predecessor: DeviceSocket?) {
        self.generation = generation
        self.predecessor = predecessor
    }

    func replayMissed() {
        guard let predecessor else { return }
        for message in predecessor.unacknowledged { write(message) }
        predecessor.unacknowledged.removeAll()
    }

    func write(_ message: Message) {
        sent += 1
        unacknowledged.append(message)
    }

    func acknowledge(upTo offset: Int) {
        unacknowledged.removeAll { $0.offset <= offset }
    }
}

final class DeviceSession {
    let deviceID: String
    private(set) var socket: DeviceSocket
    private var offset = 0
    private(set) var reconnects = 0

    init(deviceID: String) {
        self.deviceID = deviceID
        self.socket = DeviceSocket(generation: 0, resuming: nil)
    }

    func send(_ text: String) {
        offset += 1
        socket.write(Message(offset: offset, text: text))
    }

    func acknowledgeAll() { socket.acknowledge(upTo: offset) }

    func networkChanged() {
        reconnects += 1
        let fresh = DeviceSocket(generation: reconnects, resuming: socket)
        fresh.replayMissed()
        socket = fresh
    }

    func powerCycled() {
        reconnects = 0
        socket = DeviceSocket(generation: 0, resuming: nil)
    }
}

let fleet = (0..<60).map { DeviceSession(deviceID: "dev-\($0)") }
var roaming = 0
for minute in 0..<60 {
    for (n, device) in fleet.enumerated() {
        device.send("status \(minute)")
        if (minute + n) % 3 != 0 { device.acknowledgeAll() }
        if n % 10 == 7 && minute < 40 {
            device.networkChanged()
            roaming += 1
        } else if n % 10 == 2 {
            device.powerCycled()
        }
    }
    Thread.sleep(forTimeInterval: 0.02)
}
for device in fleet { device.acknowledgeAll() }
Thread.sleep(forTimeInterval: 0.1)
print("devices \(fleet.count), moved \(roaming), last sends \(fleet.reduce(0) { $0 + $1.socket.sent })")
