import Foundation

final class Notice {
    let topic: String
    let text: String
    init(topic: String, text: String) { self.topic = topic; self.text = text }
}

final class Observer {
    let token: Int
    let action: (Notice) -> Void
    init(token: Int, action: @escaping (Notice) -> Void) { self.token = token; self.action = action }
}

final class Bus {
    private var observers: [String: [Observer]] = [:]
    private var last = 0
    private(set) var delivered = 0
    func observe(_ topic: String, _ action: @escaping (Notice) -> Void) -> Int {
        last += 1
        observers[topic, default: []].append(Observer(token: last, action: action))
        return last
    }
    func remove(_ token: Int, from topic: String) { observers[topic]?.removeAll { $0.token == token } }
    func post(_ n: Notice) {
        for o in observers[n.topic] ?? [] {
            o.action(n)
            delivered += 1
        }
    }
    var count: Int { observers.values.reduce(0) { $0 + $1.count } }
}

class Plugin {
    let name: String
    private(set) var seen = 0
    private(set) var latest: Notice?
    init(name: String) { self.name = name }
    func attach(to bus: Bus, topics: [String]) {
        for t in topics { _ = bus.observe(t) { self.receive($0) } }
    }
    func receive(_ n: Notice) { seen += 1; latest = n }
}

final class LengthPlugin: Plugin {
    private(set) var length = 0
    override func receive(_ n: Notice) { super.receive(n); length += n.text.count }
}

final class Script {
    private let bus: Bus
    private var tokens: [(Int, String)] = []
    private(set) var hits = 0
    init(bus: Bus) { self.bus = bus }
    func run(topic: String, notices: Int) {
        tokens.append((bus.observe(topic) { [unowned self] _ in hits += 1 }, topic))
        for i in 0..<notices { bus.post(Notice(topic: topic, text: "notice \(i) about the topic \(topic)")) }
    }
    deinit { for (t, topic) in tokens { bus.remove(t, from: topic) } }
}

final class Host {
    let bus = Bus()
    private var plugins: [Plugin] = []
    private let topics = ["open", "save", "close", "paste", "print"]
    private(set) var hits = 0
    func load(_ n: Int) {
        let p = n % 3 == 0 ? LengthPlugin(name: "length\(n)") : Plugin(name: "plain\(n)")
        p.attach(to: bus, topics: [topics[n % 5], topics[(n + 2) % 5]])
        plugins.append(p)
    }
    func work(_ round: Int) {
        for s in 0..<6 {
            let script = Script(bus: bus)
            script.run(topic: topics[(round + s) % 5], notices: 4)
            hits += script.hits
        }
    }
    var active: Int { plugins.filter { $0.seen > 0 }.count }
}

let host = Host()
for round in 0..<60 {
    host.load(round)
    host.work(round)
}
print("plugins \(host.active) observers \(host.bus.count) delivered \(host.bus.delivered) hits \(host.hits)")
