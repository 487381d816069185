import Foundation
import Dispatch

struct Frame {
    let kind: UInt8
    let payload: [UInt8]

    func encoded() -> [UInt8] {
        [kind, UInt8(payload.count)] + payload
    }
}

struct Endpoint {
    let host: String
    let port: Int

    /// Some hosts of the test rack are known to refuse.
    var refuses: Bool { port % 6 == 0 }
}

final class Link {
    let endpoint: Endpoint
    private let queue: DispatchQueue
    private var timer: DispatchSourceTimer?
    private var beats = 0
    private var outgoing: [UInt8] = []
    private var delivered = 0

    init(endpoint: Endpoint, queue: DispatchQueue) {
        self.endpoint = endpoint
        self.queue = queue
    }

    deinit {
        timer?.cancel()
    }

    func startHeartbeat(every interval: DispatchTimeInterval) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + interval, repeating: interval)
        source.setEventHandler {
            self.beats += 1
            self.outgoing = Frame(kind: 1, payload: [UInt8(truncatingIfNeeded: self.beats)]).encoded()
        }
        source.resume()
        timer = source
    }

    func handshake() -> Bool {
        let hello = Frame(kind: 0, payload: Array(endpoint.host.utf8)).encoded()
        return !hello.isEmpty && !endpoint.refuses
    }

    func deliver(_ frame: Frame) {
        queue.sync {
            outgoing = frame.encoded()
            delivered += outgoing.count
        }
    }

    func close() -> Int {
        queue.sync {
            timer?.cancel()
            timer = nil
            return delivered
        }
    }
}

final class LinkPool {
    private let queue = DispatchQueue(label: "links")
    private var open: [Link] = []
    private(set) var refused = 0
    private(set) var bytes = 0

    func connect(_ endpoint: Endpoint) -> Link? {
        let link = Link(endpoint: endpoint, queue: queue)
        // The peer expects beats during the handshake as well.
        link.startHeartbeat(every: .milliseconds(30))
        guard link.handshake() else {
            refused += 1
            return nil
        }
        open.append(link)
        return link
    }

    func closeAll() {
        for link in open { bytes += link.close() }
        open.removeAll(keepingCapacity: true)
    }
}

let pool = LinkPool()
for round in 0..<30 {
    var links: [Link] = []
    for i in 0..<6 {
        let endpoint = Endpoint(host: "rack\(round % 4).local", port: 7000 + round * 6 + i)
        if let link = pool.connect(endpoint) { links.append(link) }
    }
    for step in 0..<12 {
        for link in links {
            link.deliver(Frame(kind: 2, payload: Array(repeating: UInt8(step), count: 24 + step)))
        }
    }
    usleep(20_000)
    pool.closeAll()
}
usleep(120_000)
print("delivered \(pool.bytes) bytes, \(pool.refused) refused")
