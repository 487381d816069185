import Foundation

final class Channel {
    let id: Int
    var lastUsed: Int
    var frames: [[UInt8]] = []
    init(id: Int, now: Int) {
        self.id = id
        self.lastUsed = now
    }

    func send(_ request: Request) -> Response {
        frames.append(request.encoded)
        if frames.count > 3 { frames.removeFirst() }
        return Response(channel: id, bytes: request.encoded.count)
    }
}

final class Request {
    let encoded: [UInt8]
    init(size: Int) { encoded = [UInt8](repeating: 0x2a, count: size) }
}

final class Response {
    let channel: Int
    let bytes: Int
    init(channel: Int, bytes: Int) {
        self.channel = channel
        self.bytes = bytes
    }
}

final class ChannelPool {
    private var idle: [Channel] = []
    private var busy: [ObjectIdentifier: Channel] = [:]
    private var created = 0
    private let minimumIdle = 10
    private let idleLimit = 3

    func checkout(now: Int) -> Channel {
        let channel: Channel
        if let spare = idle.popLast() {
            channel = spare
        } else {
            channel = Channel(id: created, now: now)
            created += 1
        }
        busy[ObjectIdentifier(channel)] = channel
        return channel
    }

    func checkin(_ channel: Channel, now: Int) {
        channel.lastUsed = now
        busy.removeValue(forKey: ObjectIdentifier(channel))
        idle.append(channel)
    }

    func reap(now: Int) {
        idle.sort { $0.lastUsed < $1.lastUsed }
        while idle.count > minimumIdle, let oldest = idle.first, now - oldest.lastUsed >= idleLimit {
            idle.removeFirst()
        }
    }

    var report: String { "created \(created), idle \(idle.count), busy \(busy.count)" }
}

let pool = ChannelPool()
var bytes = 0
let pinned = (0..<4).map { _ in pool.checkout(now: 0) }
for now in 0..<50 {
    let demand = now % 10 < 3 ? 60 : 8
    let borrowed = (0..<demand).map { _ in pool.checkout(now: now) }
    for (n, channel) in borrowed.enumerated() { bytes += channel.send(Request(size: 100 + n)).bytes }
    for channel in borrowed { pool.checkin(channel, now: now) }
    bytes += pinned[now % 4].send(Request(size: 20)).bytes
    pool.reap(now: now)
    Thread.sleep(forTimeInterval: 0.02)
}
let rush = (0..<45).map { _ in pool.checkout(now: 50) }
for channel in rush { bytes += channel.send(Request(size: 64)).bytes }
for channel in rush { pool.checkin(channel, now: 50) }
print("sent \(bytes) bytes")
print(pool.report)
