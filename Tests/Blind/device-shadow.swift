import Foundation

final class ShadowUpdate: Sendable {
    let key: String
    let value: Int
    init(key: String, value: Int) {
        self.key = key
        self.value = value
    }
}

actor DeviceShadow {
    private var mailbox: [ShadowUpdate] = []
    private var cursor = 0
    private var desired: [String: Int] = [:]

    func post(_ update: ShadowUpdate) {
        mailbox.append(update)
    }

    func process() -> Int {
        var handled = 0
        while cursor < mailbox.count {
            let update = mailbox[cursor]
            desired[update.key] = update.value
            cursor += 1
            handled += 1
        }
        return handled
    }

    var keys: Int { desired.count }
}

/// The local controller takes its commands from a queue which it does empty.
actor Controller {
    private var queue: [ShadowUpdate] = []
    private(set) var executed = 0

    func post(_ command: ShadowUpdate) { queue.append(command) }

    func drain() {
        let batch = queue
        queue.removeAll()
        for command in batch where command.value >= 0 { executed += 1 }
    }
}

@main
struct IoTHub {
    static let shadows: [DeviceShadow] = (0..<4).map { _ in DeviceShadow() }
    static let controller = Controller()

    static func main() async throws {
        var handled = 0
        for round in 0..<10 {
            await withTaskGroup(of: Void.self) { group in
                for (i, shadow) in shadows.enumerated() {
                    group.addTask {
                        for n in 0..<50 {
                            await shadow.post(ShadowUpdate(key: "d\(i).k\(n % 9)", value: round * n))
                            await controller.post(ShadowUpdate(key: "cmd\(n)", value: n))
                        }
                    }
                }
            }
            for shadow in shadows { handled += await shadow.process() }
            await controller.drain()
            try await Task.sleep(for: .milliseconds(20))
        }
        print("handled", handled, "executed", await controller.executed)
    }
}
