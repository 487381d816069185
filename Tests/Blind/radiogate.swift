import Foundation
import Synchronization

struct Frame {
    let node: UInt32
    let sequence: Int
    let reading: Int
}

final class NodeSession: @unchecked Sendable {
    let node: UInt32
    var lastSequence = -1
    var muted = false
    var sum = 0
    var frames = 0

    init(node: UInt32) {
        self.node = node
    }

    func accept(_ frame: Frame) {
        guard frame.sequence > lastSequence else { return }
        lastSequence = frame.sequence
        sum += frame.reading
        frames += 1
    }
}

final class SessionDirectory: Sendable {
    private let sessions = Mutex<[UInt32: NodeSession]>([:])

    func session(_ node: UInt32) -> NodeSession {
        sessions.withLock { table in
            if let found = table[node] { return found }
            let fresh = NodeSession(node: node)
            table[node] = fresh
            return fresh
        }
    }

    func isMuted(_ node: UInt32) -> Bool {
        session(node).muted
    }
}

final class RadioGateway: Sendable {
    let directory = SessionDirectory()
    let paired: Set<UInt32>
    private let strays = Atomic<Int>(0)
    private let handled = Atomic<Int>(0)

    init(paired: Set<UInt32>) {
        self.paired = paired
    }

    func receive(_ frame: Frame) {
        if directory.isMuted(frame.node) { return }
        guard paired.contains(frame.node) else {
            strays.add(1, ordering: .relaxed)
            return
        }
        directory.session(frame.node).accept(frame)
        handled.add(1, ordering: .relaxed)
    }

    func average() -> Int {
        var sum = 0
        var frames = 0
        for node in paired {
            let session = directory.session(node)
            sum += session.sum
            frames += session.frames
        }
        return frames == 0 ? 0 : sum / frames
    }

    var counts: (Int, Int) {
        (handled.load(ordering: .relaxed), strays.load(ordering: .relaxed))
    }
}

@main
struct GatewayService {
    static let gateway = RadioGateway(paired: Set((1...16).map { UInt32($0 * 10) }))

    static func main() {
        var noise: UInt32 = 40_000
        for burst in 0..<90 {
            for node in gateway.paired.sorted() {
                gateway.receive(Frame(node: node, sequence: burst, reading: 180 + Int(node) % 70 + burst % 5))
            }
            for _ in 0..<8 {
                noise += 37
                gateway.receive(Frame(node: noise, sequence: 0, reading: 0))
            }
            usleep(7_000)
        }
        let (handled, strays) = gateway.counts
        print("radiogate: handled \(handled), strays \(strays), average \(gateway.average())")
    }
}
