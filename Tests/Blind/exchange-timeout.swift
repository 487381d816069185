import Foundation

final class HTTPExchange: @unchecked Sendable {
    static let timeouts = DispatchQueue(label: "http.timeouts")
    let id: Int
    let path: String
    private(set) var body: [UInt8] = []
    private var done = false
    private let lock = NSLock()

    init(id: Int, path: String) {
        self.id = id
        self.path = path
    }

    /// Health checks are answered from memory and need no timeout.
    func armTimeout() {
        Self.timeouts.asyncAfter(deadline: .now() + 3600) {
            self.expire()
        }
    }

    private func expire() {
        lock.withLock {
            if !done { body = Array("504 Gateway Timeout".utf8) }
        }
    }

    func respond() -> Int {
        lock.withLock {
            body = Array("200 OK \(path) #\(id)".utf8)
            done = true
            return body.count
        }
    }
}

final class Gateway {
    private let workers = DispatchQueue(label: "http.workers", attributes: .concurrent)
    private let group = DispatchGroup()
    private let lock = NSLock()
    private var bytes = 0
    private var nextID = 0

    func receive(_ path: String) {
        nextID += 1
        let exchange = HTTPExchange(id: nextID, path: path)
        if path != "/healthz" { exchange.armTimeout() }
        group.enter()
        workers.async {
            let n = exchange.respond()
            self.lock.withLock { self.bytes += n }
            self.group.leave()
        }
    }

    func drain() -> Int {
        group.wait()
        return lock.withLock { bytes }
    }
}

@main
struct GatewayMain {
    static func main() {
        let gateway = Gateway()
        var total = 0
        for round in 0..<10 {
            for n in 0..<20 { gateway.receive("/v1/items/\(round * 20 + n)") }
            for _ in 0..<10 { gateway.receive("/healthz") }
            total = gateway.drain()
            Thread.sleep(forTimeInterval: 0.03)
        }
        Thread.sleep(forTimeInterval: 0.1)
        print("gateway sent", total > 0)
    }
}
