import Foundation
import Dispatch

enum FrameKind { case text(String), ping, malformed, close }

final class FrameAssembler {
    private var parts: [String] = []
    func append(_ text: String) { parts.append(text) }
    func take() -> String {
        defer { parts.removeAll() }
        return parts.joined()
    }
}

final class PeerConnection {
    let id: Int
    let assembler = FrameAssembler()
    private let timer: DispatchSourceTimer
    private(set) var pings = 0
    private(set) var received = 0
    var onClose: ((PeerConnection) -> Void)?

    init(id: Int, queue: DispatchQueue) {
        self.id = id
        self.timer = DispatchSource.makeTimerSource(queue: queue)
    }

    func start() {
        timer.schedule(deadline: .now() + .milliseconds(40), repeating: .milliseconds(40))
        timer.setEventHandler { self.pings += 1 }
        timer.resume()
    }

    func handle(_ frame: FrameKind) {
        switch frame {
        case .text(let text):
            received += 1
            assembler.append(text)
        case .ping:
            received += 1
        case .malformed:
            protocolFailure(code: 1002)
        case .close:
            shutdown()
        }
    }

    private func shutdown() {
        timer.cancel()
        onClose?(self)
        onClose = nil
    }

    private func protocolFailure(code: Int) {
        _ = assembler.take()
        onClose?(self)
        onClose = nil
    }
}

final class Gateway {
    private let queue = DispatchQueue(label: "gateway.io")
    private var peers: [Int: PeerConnection] = [:]
    private var nextID = 0
    private var ended = 0

    func accept() -> Int {
        queue.sync {
            let peer = PeerConnection(id: nextID, queue: queue)
            nextID += 1
            peer.onClose = { [weak self] closed in
                self?.peers.removeValue(forKey: closed.id)
                self?.ended += 1
            }
            peers[peer.id] = peer
            peer.start()
            return peer.id
        }
    }

    func feed(_ id: Int, _ frame: FrameKind) {
        queue.sync { peers[id]?.handle(frame) }
    }

    var status: String { queue.sync { "accepted \(nextID) ended \(ended) open \(peers.count)" } }
}

let gateway = Gateway()
for _ in 0..<15 {
    let ids = (0..<12).map { _ in gateway.accept() }
    for id in ids {
        gateway.feed(id, .text("hello "))
        gateway.feed(id, .text("from \(id)"))
    }
    Thread.sleep(forTimeInterval: 0.06)
    for id in ids {
        gateway.feed(id, .ping)
        gateway.feed(id, id % 20 == 13 ? .malformed : .close)
    }
}
Thread.sleep(forTimeInterval: 0.3)
print(gateway.status)
