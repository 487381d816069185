import Foundation

enum UpstreamResult {
    case ok(status: Int)
    case timeout
    case reset
}

final class ProxyConnection {
    let id: Int
    let peer: String
    private(set) var isOpen = true
    private var buffer: [UInt8] = []

    init(id: Int, peer: String) {
        self.id = id
        self.peer = peer
    }

    func receive(_ count: Int) {
        buffer.append(contentsOf: repeatElement(UInt8(id & 0xff), count: count))
    }

    func close() {
        isOpen = false
        buffer.removeAll()
    }
}

final class UpstreamPool {
    func forward(_ connection: ProxyConnection) -> UpstreamResult {
        switch connection.id % 5 {
        case 1, 3: return .timeout
        case 4: return .reset
        default: return .ok(status: connection.id % 10 == 0 ? 304 : 200)
        }
    }
}

final class ReverseProxy {
    private var connections: [Int: ProxyConnection] = [:]
    private let pool = UpstreamPool()
    private var nextID = 0
    private(set) var served = 0
    private(set) var timeouts = 0

    func accept(peer: String) -> Int {
        let connection = ProxyConnection(id: nextID, peer: peer)
        nextID += 1
        connections[connection.id] = connection
        return connection.id
    }

    func handle(_ id: Int) {
        guard let connection = connections[id] else { return }
        connection.receive(48)
        switch pool.forward(connection) {
        case .ok:
            served += 1
            finish(connection)
        case .reset:
            finish(connection)
        case .timeout:
            timeouts += 1
            connection.close()
        }
    }

    private func finish(_ connection: ProxyConnection) {
        connection.close()
        connections.removeValue(forKey: connection.id)
    }

    var registered: Int { connections.count }
    var open: Int { connections.values.filter(\.isOpen).count }
}

let proxy = ReverseProxy()
for wave in 0..<13 {
    var ids: [Int] = []
    for n in 0..<25 {
        ids.append(proxy.accept(peer: "10.0.\(wave).\(n)"))
    }
    for id in ids { proxy.handle(id) }
}
print("served \(proxy.served) timeouts \(proxy.timeouts) open \(proxy.open) registered \(proxy.registered)")
