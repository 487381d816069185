import Foundation

struct Request {
    let path: String
    let client: Int
}

enum UpstreamResult {
    case answer(bytes: Int)
    case error(String)
}

final class Exchange {
    let request: Request
    var sentBytes = 0
    var finished = false
    init(_ r: Request) { request = r }
}

final class Upstream {
    let name: String
    private let queue: DispatchQueue
    private var calls = 0

    init(name: String) {
        self.name = name
        queue = DispatchQueue(label: "upstream." + name)
    }

    func forward(_ r: Request, reply: @escaping (UpstreamResult) -> Void) {
        queue.async {
            self.calls += 1
            usleep(1_000)
            if self.calls % 9 == 4 {
                reply(.error("connection reset by \(self.name)"))
            } else {
                reply(.answer(bytes: 200 + r.path.utf8.count * 13))
            }
        }
    }
}

protocol ConnectionOwner: AnyObject {
    func connectionClosed(_ c: Connection, failed: Bool)
}

final class Connection {
    let id: Int
    private let loop: DispatchQueue
    private weak var owner: ConnectionOwner?
    private var idleTimer: DispatchSourceTimer?
    private var current: Exchange?
    private var lastActivity = DispatchTime.now()
    private(set) var bytes = 0
    private var remaining: Int

    init(id: Int, loop: DispatchQueue, owner: ConnectionOwner, requests: Int) {
        self.id = id
        self.loop = loop
        self.owner = owner
        remaining = requests
    }

    func open() {
        let t = DispatchSource.makeTimerSource(queue: loop)
        t.schedule(deadline: .now() + .milliseconds(150), repeating: .milliseconds(150))
        t.setEventHandler { self.checkIdle() }
        t.resume()
        idleTimer = t
    }

    private func checkIdle() {
        guard current == nil else { return }
        let idle = DispatchTime.now().uptimeNanoseconds - lastActivity.uptimeNanoseconds
        if idle > 400_000_000 { close() }
    }

    func receive(_ r: Request, via upstream: Upstream) {
        let x = Exchange(r)
        current = x
        lastActivity = .now()
        upstream.forward(r) { [weak self] result in
            guard let self else { return }
            self.loop.async {
                switch result {
                case .answer(let n): self.answered(n)
                case .error(let text): self.upstreamFailed(text)
                }
            }
        }
    }

    private func answered(_ n: Int) {
        current?.sentBytes = n
        current?.finished = true
        bytes += n
        current = nil
        lastActivity = .now()
        remaining -= 1
        if remaining == 0 { close() }
    }

    private func upstreamFailed(_ text: String) {
        current?.sentBytes = text.utf8.count
        bytes += text.utf8.count
        owner?.connectionClosed(self, failed: true)
    }

    func close() {
        idleTimer?.cancel()
        idleTimer = nil
        current = nil
        owner?.connectionClosed(self, failed: false)
    }
}

final class Proxy: ConnectionOwner {
    private let loop = DispatchQueue(label: "proxy.loop")
    private let upstreams = ["a", "b", "c"].map { Upstream(name: $0) }
    private var connections: [Int: Connection] = [:]
    private var nextId = 0
    private var accepted = 0
    private var failures = 0
    private var traffic = 0

    func accept(requests: Int) -> Int {
        loop.sync {
            nextId += 1
            accepted += 1
            let c = Connection(id: nextId, loop: loop, owner: self, requests: requests)
            connections[nextId] = c
            c.open()
            return nextId
        }
    }

    func send(_ path: String, on id: Int) -> Bool {
        loop.sync {
            guard let c = connections[id] else { return false }
            c.receive(Request(path: path, client: id), via: upstreams[id % upstreams.count])
            return true
        }
    }

    func connectionClosed(_ c: Connection, failed: Bool) {
        guard connections.removeValue(forKey: c.id) != nil else { return }
        traffic += c.bytes
        if failed { failures += 1 }
    }

    func status() -> (open: Int, accepted: Int, failures: Int, traffic: Int) {
        loop.sync { (connections.count, accepted, failures, traffic) }
    }
}

func drive(_ proxy: Proxy) {
    var active: [(id: Int, left: Int)] = []
    for round in 0..<330 {
        if round < 280 {
            let n = 1 + round % 4
            active.append((proxy.accept(requests: n), round % 10 == 7 ? n - 1 : n))
        }
        var next: [(id: Int, left: Int)] = []
        for entry in active where entry.left > 0 {
            if proxy.send("/item/\(round)/\(entry.id)", on: entry.id) {
                next.append((entry.id, entry.left - 1))
            }
        }
        active = next
        usleep(8_000)
    }
    usleep(300_000)
}

let proxy = Proxy()
drive(proxy)
let s = proxy.status()
print("accepted \(s.accepted) failed \(s.failures) open \(s.open) bytes \(s.traffic)")
