// Minimal publish/subscribe broker for building automation devices.
import Foundation

final class DeviceLink {
    let connectionID: UInt32
    let clientID: String
    var subscriptions: Set<String> = []
    var open = true
    var delivered = 0

    init(connectionID: UInt32, clientID: String) {
        self.connectionID = connectionID
        self.clientID = clientID
    }

    func deliver(_ payload: [UInt8]) { delivered += payload.count }
}

final class TopicRouter {
    private var subscribers: [String: [String]] = [:]

    func subscribe(_ link: DeviceLink, to topic: String) {
        link.subscriptions.insert(topic)
        if subscribers[topic, default: []].contains(link.clientID) { return }
        subscribers[topic, default: []].append(link.clientID)
    }

    func drop(clientID: String) {
        for topic in subscribers.keys {
            subscribers[topic]?.removeAll { $0 == clientID }
        }
    }

    func clients(of topic: String) -> [String] { subscribers[topic] ?? [] }
}

final class Broker {
    private var connections: [UInt32: DeviceLink] = [:]
    private var clients: [String: DeviceLink] = [:]
    private let router = TopicRouter()
    private var nextConnection: UInt32 = 1
    private(set) var takeovers = 0
    private(set) var published = 0
    private(set) var bytes = 0

    func connect(clientID: String, topics: [String]) -> UInt32 {
        let link = DeviceLink(connectionID: nextConnection, clientID: clientID)
        nextConnection += 1
        if let previous = clients[clientID] {
            takeovers += 1
            previous.open = false
            bytes += previous.delivered
        }
        connections[link.connectionID] = link
        clients[clientID] = link
        for topic in topics { router.subscribe(link, to: topic) }
        return link.connectionID
    }

    func publish(from connection: UInt32, topic: String, payload: [UInt8]) {
        guard let sender = connections[connection], sender.open else { return }
        published += 1
        for clientID in router.clients(of: topic) where clientID != sender.clientID {
            clients[clientID]?.deliver(payload)
        }
    }

    func disconnect(_ connection: UInt32) {
        guard let link = connections.removeValue(forKey: connection) else { return }
        link.open = false
        bytes += link.delivered
        if clients[link.clientID] === link {
            clients[link.clientID] = nil
            router.drop(clientID: link.clientID)
        }
    }

    var onlineClients: Int { clients.count }
}

@main
struct BuildingBroker {
    static let broker = Broker()
    static let devices = 40

    static func main() {
        var current: [String: UInt32] = [:]
        // The access point reboots every round and devices come back under the same name.
        for round in 0..<12 {
            for d in 0..<devices {
                let name = "thermostat-\(d)"
                current[name] = broker.connect(clientID: name, topics: ["floor/\(d % 4)", "alarm"])
            }
            for d in 0..<devices {
                guard let connection = current["thermostat-\(d)"] else { continue }
                let reading: [UInt8] = [UInt8(d), UInt8(round), UInt8(18 + (d + round) % 6)]
                broker.publish(from: connection, topic: "floor/\(d % 4)", payload: reading)
                if d == round { broker.publish(from: connection, topic: "alarm", payload: [1]) }
            }
            usleep(12_000)
        }
        let online = broker.onlineClients
        for connection in current.values { broker.disconnect(connection) }
        print("devices online before shutdown: \(online), after: \(broker.onlineClients)")
        print("takeovers: \(broker.takeovers), published: \(broker.published), bytes delivered: \(broker.bytes)")
    }
}
