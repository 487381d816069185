import Foundation
import Synchronization

final class Packet: Sendable {
    let id: Int
    let payload: [UInt8]
    init(id: Int) {
        self.id = id
        payload = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: 256)
    }
}

final class UDPSocket: Sendable {
    let packets: AsyncStream<Packet>
    private let feed: AsyncStream<Packet>.Continuation
    init() {
        (packets, feed) = AsyncStream.makeStream(of: Packet.self)
    }
    func receive(_ packet: Packet) { feed.yield(packet) }
}

final class SyslogCollector: Sendable {
    static let shared = SyslogCollector()
    let socket = UDPSocket()
    let accepted = Atomic<Int>(0)
    let checksum = Atomic<Int>(0)

    func run() async {
        await withDiscardingTaskGroup { group in
            for await packet in socket.packets {
                group.addTask {
                    await self.parse(packet)
                }
            }
        }
    }

    private func parse(_ packet: Packet) async {
        let sum = packet.payload.reduce(0) { $0 &+ Int($1) }
        await Task.yield()
        checksum.add(sum, ordering: .relaxed)
        accepted.add(1, ordering: .relaxed)
    }
}

@main
struct SyslogMain {
    static func main() async throws {
        let collector = SyslogCollector.shared
        Task { await collector.run() }
        var id = 0
        for _ in 0..<20 {
            for _ in 0..<100 {
                id += 1
                collector.socket.receive(Packet(id: id))
            }
            try await Task.sleep(for: .milliseconds(15))
        }
        while collector.accepted.load(ordering: .relaxed) < 2000 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("syslog accepted", collector.accepted.load(ordering: .relaxed))
    }
}
