import Foundation

final class Packet {
    let topic: String
    let payload: [UInt8]
    init(topic: String, size: Int) {
        self.topic = topic
        self.payload = [UInt8](repeating: 7, count: size)
    }
}

final class BrokerClient {
    let clientID: String
    var filters: [String] = []
    var queue: [Packet] = []
    init(clientID: String) { self.clientID = clientID }

    func deliver(_ packet: Packet) {
        queue.append(packet)
        if queue.count > 4 { queue.removeFirst() }
    }
}

final class SharedGroup {
    let name: String
    var members: [BrokerClient] = []
    private var cursor = 0
    init(name: String) { self.name = name }

    func pick() -> BrokerClient? {
        guard !members.isEmpty else { return nil }
        cursor = (cursor + 1) % members.count
        return members[cursor]
    }
}

final class Broker {
    private var exact: [String: [BrokerClient]] = [:]
    private var prefixes: [(prefix: String, client: BrokerClient)] = []
    private var shared: [String: SharedGroup] = [:]
    private var retained: [String: Packet] = [:]

    func subscribe(_ client: BrokerClient, to filter: String) {
        client.filters.append(filter)
        if filter.hasPrefix("$share/") {
            let group = shared[filter] ?? SharedGroup(name: filter)
            group.members.append(client)
            shared[filter] = group
        } else if filter.hasSuffix("/#") {
            prefixes.append((String(filter.dropLast(2)), client))
        } else {
            exact[filter, default: []].append(client)
            if let packet = retained[filter] { client.deliver(packet) }
        }
    }

    func publish(_ packet: Packet, retain: Bool = false) {
        if retain { retained[packet.topic] = packet }
        exact[packet.topic]?.forEach { $0.deliver(packet) }
        for entry in prefixes where packet.topic.hasPrefix(entry.prefix) { entry.client.deliver(packet) }
        shared["$share/workers/\(packet.topic)"]?.pick()?.deliver(packet)
    }

    func disconnect(_ client: BrokerClient) {
        for filter in client.filters {
            if filter.hasSuffix("/#") {
                prefixes.removeAll { $0.client === client }
            } else {
                exact[filter]?.removeAll { $0 === client }
            }
        }
        client.filters.removeAll()
        client.queue.removeAll()
    }

    var retainedCount: Int { retained.count }
}

let broker = Broker()
var serial = 0
var handled = 0
for minute in 0..<40 {
    var clients: [BrokerClient] = []
    for _ in 0..<20 {
        let client = BrokerClient(clientID: "c\(serial)")
        broker.subscribe(client, to: "plant/\(serial % 5)/temp")
        if serial % 4 == 1 { broker.subscribe(client, to: "plant/\(serial % 5)/#") }
        if serial % 16 == 6 { broker.subscribe(client, to: "$share/workers/reports/daily") }
        clients.append(client)
        serial += 1
    }
    for line in 0..<5 {
        broker.publish(Packet(topic: "plant/\(line)/temp", size: 128), retain: true)
        broker.publish(Packet(topic: "plant/\(line)/alarm", size: 64))
    }
    if minute == 0 { broker.publish(Packet(topic: "reports/daily", size: 256)) }
    handled += clients.reduce(0) { $0 + $1.queue.count }
    Thread.sleep(forTimeInterval: 0.025)
    clients.forEach(broker.disconnect)
}
print("clients \(serial) handled \(handled) retained \(broker.retainedCount)")
