import Foundation
import Dispatch

final class Message {
    let sequence: Int
    let topic: String
    let payload: String
    init(sequence: Int, topic: String, payload: String) {
        self.sequence = sequence
        self.topic = topic
        self.payload = payload
    }
}

final class Connection {
    let clientId: String
    let generation: Int
    private(set) var open = true
    private var inbox: [Message] = []
    private(set) var acknowledged = 0

    init(clientId: String, generation: Int) {
        self.clientId = clientId
        self.generation = generation
    }

    func push(_ message: Message) {
        guard open else { return }
        inbox.append(message)
    }

    func drain() -> Int {
        let n = inbox.count
        acknowledged += n
        inbox.removeAll(keepingCapacity: true)
        return n
    }

    func close() {
        open = false
        inbox.removeAll()
    }
}

final class Topic {
    let name: String
    private var subscribers: [Connection] = []
    private var retained: Message?
    private(set) var published = 0

    init(name: String) { self.name = name }

    func add(_ connection: Connection) {
        subscribers.append(connection)
        if let retained { connection.push(retained) }
    }

    func remove(_ connection: Connection) {
        subscribers.removeAll { $0 === connection }
    }

    func publish(_ message: Message) {
        retained = message
        published += 1
        for subscriber in subscribers { subscriber.push(message) }
    }
}

final class Broker {
    private let queue = DispatchQueue(label: "broker")
    private var topics: [String: Topic] = [:]
    private var connections: [String: Connection] = [:]
    private var subscriptions: [String: Set<String>] = [:]
    private var sequence = 0

    func connect(_ clientId: String) {
        queue.async { [self] in
            var generation = 0
            if let previous = connections[clientId] {
                previous.close()
                generation = previous.generation + 1
            }
            let connection = Connection(clientId: clientId, generation: generation)
            connections[clientId] = connection
            for name in subscriptions[clientId] ?? [] {
                topic(name).add(connection)
            }
        }
    }

    func subscribe(_ clientId: String, to name: String) {
        queue.async { [self] in
            guard let connection = connections[clientId] else { return }
            if subscriptions[clientId, default: []].insert(name).inserted {
                topic(name).add(connection)
            }
        }
    }

    func disconnect(_ clientId: String) {
        queue.async { [self] in
            guard let connection = connections.removeValue(forKey: clientId) else { return }
            for name in subscriptions.removeValue(forKey: clientId) ?? [] {
                topic(name).remove(connection)
            }
            connection.close()
        }
    }

    func publish(_ name: String, _ payload: String) {
        queue.async { [self] in
            sequence += 1
            topic(name).publish(Message(sequence: sequence, topic: name, payload: payload))
        }
    }

    func deliver() -> Int {
        queue.sync {
            connections.values.reduce(0) { $0 + $1.drain() }
        }
    }

    func summary() -> [String] {
        queue.sync {
            topics.values.sorted { $0.name < $1.name }.map { "\($0.name): \($0.published) published" }
        }
    }

    private func topic(_ name: String) -> Topic {
        if let topic = topics[name] { return topic }
        let topic = Topic(name: name)
        topics[name] = topic
        return topic
    }
}

final class Device {
    let id: String
    private let broker: Broker
    private(set) var online = false
    private var battery: Int

    init(id: String, broker: Broker, battery: Int) {
        self.id = id
        self.broker = broker
        self.battery = battery
    }

    func tick(_ n: Int) {
        battery -= 1
        if !online && battery > 0 {
            broker.connect(id)
            broker.subscribe(id, to: "commands")
            broker.subscribe(id, to: n % 2 == 0 ? "firmware" : "weather")
            online = true
        } else if battery <= 0 {
            if online { broker.disconnect(id) }
            online = false
            battery = 60 + n % 17
        } else if battery % 13 == 0 {
            broker.connect(id)
        } else if battery % 3 == 0 {
            broker.publish("telemetry", "\(id)=\(battery)")
        }
    }
}

func runFleet() {
    let broker = Broker()
    let devices = (0..<40).map { Device(id: "dev-\($0)", broker: broker, battery: 20 + $0) }
    var delivered = 0
    for n in 0..<220 {
        for device in devices { device.tick(n) }
        if n % 4 == 0 { broker.publish("commands", "sync \(n)") }
        if n % 25 == 0 { broker.publish("weather", "\(10 + n % 15) degrees") }
        delivered += broker.deliver()
        usleep(8_000)
    }
    for line in broker.summary() { print(line) }
    print("delivered \(delivered)")
}

runFleet()
