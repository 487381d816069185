import Foundation

actor TopicBroker {
    static let shared = TopicBroker()
    private var waiters: [String: [CheckedContinuation<String, Never>]] = [:]
    private(set) var subscribed = 0
    private(set) var resumed = 0

    func firstMessage(on topic: String) async -> String {
        await withCheckedContinuation { continuation in
            subscribed += 1
            waiters[topic, default: []].append(continuation)
        }
    }

    func publish(_ message: String, on topic: String) {
        let key = topic.lowercased()
        guard let list = waiters.removeValue(forKey: key) else { return }
        for continuation in list {
            resumed += 1
            continuation.resume(returning: message)
        }
    }
}

final class Bridge: Sendable {
    let device: String
    init(device: String) { self.device = device }

    func attach(to topic: String) {
        Task {
            let message = await TopicBroker.shared.firstMessage(on: topic)
            self.configure(from: message)
        }
    }

    private func configure(from message: String) {
        precondition(message.hasPrefix("cfg"))
    }
}

@main
struct MQTTGateway {
    static func main() async throws {
        let broker = TopicBroker.shared
        for round in 1...5 {
            var topics: [String] = []
            for n in 0..<8 {
                // Half of the firmware versions announce themselves in camel case.
                let topic = n % 2 == 0 ? "home/sensor\(n)/state" : "Home/Sensor\(n)/State"
                topics.append(topic)
                Bridge(device: "dev-\(round)-\(n)").attach(to: topic)
            }
            while await broker.subscribed < round * 8 {
                try await Task.sleep(for: .milliseconds(3))
            }
            for topic in topics { await broker.publish("cfg:\(round)", on: topic) }
            try await Task.sleep(for: .milliseconds(40))
        }
        // Normal traffic for a while.
        for n in 0..<10 {
            await broker.publish("cfg:\(n)", on: "home/sensor\(n)/state")
            try await Task.sleep(for: .milliseconds(20))
        }
        print("bridges configured:", await broker.resumed)
    }
}
